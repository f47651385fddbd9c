import type { Clock } from "../../ports/clock.ts";
import type { DocumentKey, Store } from "../../ports/store.ts";
import { isConflict } from "../../records/conflict.ts";

interface TurnDocument<M> {
  v: 1;
  /** Until then somebody has the turn. Zero: nobody. */
  untilMs: number;
  /** Others that came meanwhile. */
  asked: number;
  memory?: M;
}

export interface TurnParams {
  store: Store;
  clock: Pick<Clock, "now">;
  key: DocumentKey;
  /** How long a turn may last: as long as its function lives. */
  ttlMs: () => number;
  /** No further turn begins with less time left. */
  leastMs: number;
}

/**
 * Does a work of which one at a time is enough. Whoever comes while another one is at it leaves word and goes; the
 * other one then does it once more, so that nothing that happened before the word is missed. What a turn resolves
 * to is what the next one begins with, in whichever process. Resolves to how many turns were taken here; the word
 * of who could not be served in time is left for the next event.
 */
export async function takeTurns<M>(
  params: TurnParams,
  work: (memory: M | undefined) => Promise<M>,
): Promise<{ turns: number; isLeft: boolean }> {
  const { clock, ttlMs, leastMs } = params;
  let held = await take<M>(params);
  if (held === undefined) return { turns: 0, isLeft: false };
  for (let turns = 1; ; turns++) {
    const memory = await work(held.value.memory).catch(async (error: unknown) => {
      // Without it, nobody could until this turn's time is over.
      if (held !== undefined) await write(params, { ...held.value, untilMs: 0 }, held.version);
      throw error;
    });
    const free: TurnDocument<M> = { v: 1, untilMs: 0, asked: 0, memory };
    if ((await write(params, free, held.version)) !== undefined) return { turns, isLeft: false };
    const current = await read<M>(params);
    // Its time was over, and somebody else is at it.
    if (current === undefined || current.value.untilMs !== held.value.untilMs)
      return { turns, isLeft: false };
    const isLate = ttlMs() < leastMs;
    const next = isLate ? free : { ...free, untilMs: clock.now() + ttlMs() };
    const version = await write(params, next, current.version);
    if (isLate || version === undefined) return { turns, isLeft: true };
    held = { value: next, version };
  }
}

interface Held<M> {
  value: TurnDocument<M>;
  version: number;
}

/** Lambda lets no function live longer: whoever holds it for more had a clock that was wrong. */
const LONGEST_MS = 900_000;

/** The turn, or undefined when another one has it and was told. */
async function take<M>(params: TurnParams): Promise<Held<M> | undefined> {
  for (;;) {
    const nowMs = params.clock.now();
    const current = await read<M>(params);
    const leftMs = (current?.value.untilMs ?? 0) - nowMs;
    const isTaken = current !== undefined && leftMs > 0 && leftMs <= LONGEST_MS;
    const value: TurnDocument<M> = isTaken
      ? { ...current.value, asked: current.value.asked + 1 }
      : { v: 1, untilMs: nowMs + params.ttlMs(), asked: 0, memory: current?.value.memory };
    const version = await write(params, value, current?.version ?? 0);
    if (version !== undefined) return isTaken ? undefined : { value, version };
  }
}

async function read<M>({ store, key }: TurnParams): Promise<Held<M> | undefined> {
  return store.get<TurnDocument<M>>(key);
}

/** Undefined where somebody else wrote before. */
async function write<M>(
  { store, key }: TurnParams,
  value: TurnDocument<M>,
  ifVersion: number,
): Promise<number | undefined> {
  try {
    return await store.put(key, value, { ifVersion });
  } catch (error) {
    if (isConflict(error)) return undefined;
    throw error;
  }
}
