import { SpotterError } from "../../../schema/errors.ts";
import type { Verdict } from "../../../schema/rollout.ts";
import { timerMs } from "../../../schema/timer-ms.ts";
import { type Conversation, playConversation, type PlaySettings, rewardRow } from "./conversation.ts";
import { inOrder } from "./in-order.ts";
import type { Entry, Player } from "./player.ts";
import { derivedSeed } from "./select-entries.ts";
import type { ProjectUserCode } from "./user-code.ts";

/** Conversations under way at once. */
const CONCURRENCY = 8;

/** One conversation of a test and how it was judged. */
export interface Rollout {
  /** From 1, in the order of the test. */
  number: number;
  entry: Entry;
  /** Which of the answers to this row, from 1. */
  sample: number;
  seed: number;
  /** Absent where it could not be played. */
  conversation?: Conversation;
  /** Absent where it could not be played or judged. */
  verdict?: Verdict;
  failure?: { code: string; message: string; hint?: string | undefined };
}

export interface PlayProjectParams {
  entries: AsyncIterable<Entry>;
  /** Answers to each row. */
  repeat: number;
  seed: number;
  player: Pick<Player, "answer">;
  code: ProjectUserCode;
  settings: PlaySettings;
  /** Of each conversation. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Plays rows, some at a time, and yields their rollouts in order. One that fails ends none of the others. */
export function playProject(params: PlayProjectParams): AsyncGenerator<Rollout> {
  return inOrder(samplesOf(params), CONCURRENCY, (sample) => playOne(sample, params));
}

interface Sample {
  number: number;
  entry: Entry;
  sample: number;
}

async function* samplesOf({ entries, repeat }: PlayProjectParams): AsyncGenerator<Sample> {
  let number = 0;
  for await (const entry of entries)
    for (let sample = 1; sample <= repeat; sample++) yield { number: ++number, entry, sample };
}

async function playOne(of: Sample, params: PlayProjectParams): Promise<Rollout> {
  const { player, code, settings, signal } = params;
  const seed = derivedSeed(params.seed, of.entry.index, of.sample);
  const rollout: Rollout = { ...of, seed };
  const deadline = AbortSignal.timeout(timerMs(params.timeoutMs));
  const during = AbortSignal.any([signal, deadline]);
  try {
    rollout.conversation = await playConversation(of.entry, {
      player,
      tools: code.tools,
      callTools: code.callTools,
      settings,
      seedOf: (turn) => derivedSeed(seed, turn),
      signal: during,
    });
    const [verdict] = await code.judge([rewardRow(of.entry, rollout.conversation)], during);
    return { ...rollout, ...(verdict && { verdict }) };
  } catch (error) {
    signal.throwIfAborted();
    const {
      code: errorCode,
      message,
      hint,
    } = deadline.aborted ? late(params.timeoutMs) : SpotterError.from(error);
    return { ...rollout, failure: { code: errorCode, message, hint } };
  }
}

function late(timeoutMs: number): SpotterError {
  return new SpotterError("timeout", `The conversation took longer than ${timeoutMs / 1_000} s.`, {
    where: "rollout.rollout_timeout",
    hint: "Raise rollout_timeout, or lower max_turns.",
  });
}
