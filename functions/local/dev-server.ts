/**
 * Runs rewards while they are written: a process of its own that `spotter dev` starts and talks to over the
 * channel of node:child_process (`sdk/schema/dev.ts`). Ends when that channel closes.
 *
 * @module
 */
import { join } from "node:path";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { DevAnswer, DevGrants, DevMessage, DevRequest } from "../../sdk/schema/dev.ts";
import type { IsolateHandle } from "../ports/isolates.ts";
import { rewardRowOf } from "../user-code/adversarial-rows.ts";
import { combineVerdict } from "../user-code/combine.ts";
import { callRewards } from "../user-code/judge.ts";
import { selectRewards } from "../user-code/select-rewards.ts";
import { FileSecrets } from "./file-secrets.ts";
import { createMiniflareIsolates, type MiniflareIsolates } from "./miniflare-isolates/index.ts";

interface Open {
  sha256: string;
  isolates: MiniflareIsolates;
  handle: IsolateHandle;
  name: string;
}

let open: Open | undefined;
let last: Promise<unknown> = Promise.resolve();

process.on("message", (request: DevRequest) => {
  // One after the other: a file that was saved while it judged replaces the isolate afterwards.
  last = last.then(() => answer(request));
});
process.once("disconnect", () => void end());

async function answer(request: DevRequest): Promise<void> {
  try {
    const result = request.type === "load" ? await load(request) : await judge(request);
    send({ type: "answer", id: request.id, result });
  } catch (error) {
    send({ type: "answer", id: request.id, error: SpotterError.from(error).toBody() });
  }
}

async function load({
  code,
  sha256,
  name,
  inspector,
  grants,
}: DevRequest & { type: "load" }): Promise<DevAnswer> {
  // The same code stays where it is, with the debugger that is attached to it.
  if (open?.sha256 === sha256) return { rewards: namesOf(open) };
  // The port of the debugger belongs to one isolate: the old one goes first.
  await open?.isolates.close();
  open = undefined;
  const secrets = grants === undefined ? {} : await granted(grants);
  const isolates = await createMiniflareIsolates({
    inspector,
    onMessage: ({ level, text }) => send({ type: "log", level, text }),
  });
  try {
    const handle = await isolates.load({ sha256, code, secrets });
    const rewards = namesOf({ handle, name });
    open = { sha256, isolates, handle, name };
    return { rewards };
  } finally {
    if (!open) await isolates.close();
  }
}

/** Only what was named; a name that is not set is an error, as it is for a run. */
function granted({ home, names }: DevGrants): Promise<Record<string, string>> {
  return new FileSecrets(join(home, "secrets.json")).resolve(names);
}

function namesOf({ handle, name }: Pick<Open, "handle" | "name">): string[] {
  return selectRewards(handle, undefined, name).map((each) => each.name);
}

async function judge({ rows, timeoutMs }: DevRequest & { type: "judge" }): Promise<DevAnswer> {
  if (!open) throw new SpotterError("invalid_input", "No code is loaded.");
  const { handle, name } = open;
  const rewards = selectRewards(handle, undefined, name);
  const rewardRows = rows.map(({ row, answer: text }) => rewardRowOf(row, text));
  const results = await callRewards(handle, rewards, rewardRows, timeoutMs);
  const verdictOf = (index: number) =>
    combineVerdict(
      rewards,
      results.map((each) => each[index]),
    );
  return { verdicts: rows.map((_, index) => verdictOf(index)) };
}

function send(message: DevMessage): void {
  if (process.connected) process.send?.(message);
}

async function end(): Promise<void> {
  await last;
  await open?.isolates.close();
  process.exit(0);
}
