import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import type { DocumentKey } from "../ports/store.ts";
import { sha256Of } from "./hash.ts";
import { putFirst } from "./update.ts";

export interface Launch {
  kind: "run" | "eval" | "endpoint";
  /** The client's `idempotency-key`; without one every launch is a new one. */
  key: string | undefined;
  body: unknown;
}

/** What a client asked for under a key: written down before the launch has any effect. */
interface Intent {
  v: 1;
  bodySha256: string;
  id: string;
  createdAtMs: number;
  /** What the launch has made: it must not make another, whatever became of this one since. */
  made?: string;
}

const LAUNCHES = "launches";
/** Far longer than any client repeats a launch. */
const KEPT_MS = 24 * 60 * 60_000;
const FORGET_AT_ONCE = 20;

/**
 * Does a launch once for each key, however often its client repeats it because an answer was lost.
 *
 * @param accept Launches under this id. It may be called again with the same id when its process died over it,
 * or beside itself, and must then finish or find what the first call began.
 * @param made The name of what was launched, and what has become of it since.
 * @throws SpotterError `conflict` if the key was used with another body.
 */
export async function launchOnce<T>(
  control: Pick<Control, "store" | "clock" | "ids">,
  launch: Launch,
  accept: (id: string) => Promise<T>,
  made: { nameOf: (launched: T) => string; find: (name: string) => Promise<T> },
): Promise<T> {
  const id = `${launch.kind}-${control.ids.next().toLowerCase()}`;
  if (launch.key === undefined) return accept(id);
  const where: DocumentKey = { partition: LAUNCHES, sort: sha256Of(`${launch.kind} ${launch.key}`) };
  const bodySha256 = sha256Of(JSON.stringify(launch.body));
  const fresh: Intent = { v: 1, bodySha256, id, createdAtMs: control.clock.now() };
  const sort = `${String(fresh.createdAtMs).padStart(15, "0")} ${id}`;
  const intent = await putFirst(control.store, where, fresh, [{ index: "age", partition: LAUNCHES, sort }]);
  if (intent.bodySha256 !== bodySha256) throw usedOtherwise();
  if (intent.made !== undefined) return made.find(intent.made);
  const result = await accept(intent.id);
  await control.store.put(where, { ...intent, made: made.nameOf(result) } satisfies Intent);
  if (intent.id === id) await forgetOld(control);
  return result;
}

/** A few with every new one: there are never many more than were launched within a day. */
async function forgetOld({ store, clock }: Pick<Control, "store" | "clock">): Promise<void> {
  const { items } = await store.queryIndex<Intent>("age", LAUNCHES, { limit: FORGET_AT_ONCE });
  for (const { key, value } of items) if (clock.now() - value.createdAtMs > KEPT_MS) await store.delete(key);
}

function usedOtherwise(): SpotterError {
  return new SpotterError(
    "conflict",
    "This idempotency key belongs to another launch: its body was another.",
    {
      where: "idempotency-key",
      hint: "Use a new key for each launch, and the same one only to repeat it unchanged.",
    },
  );
}
