import { ERROR_CODES, type ErrorCode } from "../../sdk/schema/error-codes.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobCallResult } from "../../sdk/schema/job.ts";
import {
  startPythonChild,
  type PythonAnswer,
  type PythonChild,
  type PythonChildParams,
} from "./python-child.ts";

export interface PythonReward {
  name: string;
  precondition: boolean;
  timeoutMs?: number;
}

export interface PythonTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  timeoutMs?: number;
}

/** A call of a reward or tool, as the host takes it. */
export interface PythonCall extends Record<string, unknown> {
  op: "reward" | "tool";
  name: string;
  timeoutMs: number;
}

/** The user's Python files, loaded, in one process at a time. */
export interface PythonProcess {
  readonly rewards: readonly PythonReward[];
  readonly tools: readonly PythonTool[];
  /** The process that runs now. */
  readonly pid: number;
  /** One result a call, in their order. Rejects only if the files cannot be loaded again after a crash. */
  callAll(calls: readonly PythonCall[]): Promise<JobCallResult[]>;
  close(): Promise<void>;
}

export interface PythonProcessParams extends Omit<PythonChildParams, "python"> {
  /** Default: `python3`. */
  python?: string;
  /** Where the files lie, and which of them are run. */
  folder: string;
  files: readonly string[];
  secrets: Readonly<Record<string, string>>;
  /** Imports may be large. Default: 2 minutes. */
  loadTimeoutMs?: number;
  /** Longer than any call may take and no answer: the process is stuck. Default: 5 seconds. */
  graceMs?: number;
}

/** Processes that one batch may take down; then the rest of it is given up. */
const MAX_LOSSES = 16;

interface Loaded {
  rewards: PythonReward[];
  tools: PythonTool[];
}

/**
 * Starts Python and loads the files. A call that ends the process, or keeps it from answering, has no result; the
 * others are run again in a new one, so a call may run more than once.
 *
 * @throws SpotterError `python_missing`, or `user_code_invalid` with what the files raised.
 */
export async function startPython(params: PythonProcessParams): Promise<PythonProcess> {
  const { graceMs = 5_000 } = params;
  let { child, loaded } = await load(params);
  /** A thread that did not end in time goes on; it ends with the process, before the next batch. */
  let isWorn = false;

  async function renew(reason: string): Promise<void> {
    await child.kill(reason);
    ({ child, loaded } = await load(params));
    isWorn = false;
  }

  async function callAll(calls: readonly PythonCall[]): Promise<JobCallResult[]> {
    const results = new Map<PythonCall, JobCallResult>();
    if (isWorn) await renew("a call did not end in time");
    let losses = 0;
    let oneByOne = false;
    for (let open = [...calls]; open.length > 0; open = open.filter((call) => !results.has(call))) {
      const batch: PythonCall[] = oneByOne ? open.slice(0, 1) : open;
      const reason = await askAll(batch, results);
      if (reason === undefined) continue;
      const lost = batch.filter((call) => !results.has(call));
      // Of several any may have done it: one at a time the culprit is alone.
      oneByOne = lost.length > 1;
      if (lost[0] && !oneByOne) results.set(lost[0], failed(lost[0], reason));
      if (++losses >= MAX_LOSSES)
        for (const call of open)
          if (!results.has(call))
            results.set(call, failed(call, "given up: calls before it ended the process"));
      await renew(reason);
    }
    return calls.map((call) => results.get(call) ?? failed(call, "there is no answer"));
  }

  /** Resolves to why the process ended, if it did. */
  async function askAll(
    batch: readonly PythonCall[],
    results: Map<PythonCall, JobCallResult>,
  ): Promise<string | undefined> {
    const limitMs = Math.max(...batch.map(({ timeoutMs }) => timeoutMs)) + graceMs;
    const stuck = `no answer for ${limitMs / 1000} s; the code holds the whole process up`;
    const watch = setTimeout(() => void child.kill(stuck), limitMs);
    let reason: string | undefined;
    await Promise.all(
      batch.map(async (call) => {
        const answer = await child.ask(call);
        watch.refresh();
        if ("gone" in answer) reason = answer.gone;
        else results.set(call, resultOf(answer));
        if ("error" in answer && answer.error.stuck === true) isWorn = true;
      }),
    );
    clearTimeout(watch);
    return reason;
  }

  return {
    get rewards() {
      return loaded.rewards;
    },
    get tools() {
      return loaded.tools;
    },
    get pid() {
      return child.pid;
    },
    callAll,
    close: () => child.kill("the training is over"),
  };
}

async function load(params: PythonProcessParams): Promise<{ child: PythonChild; loaded: Loaded }> {
  const { python = "python3", folder, files, secrets, loadTimeoutMs = 120_000 } = params;
  const child = await startPythonChild({ ...params, python });
  const limit = `loading takes longer than ${loadTimeoutMs / 1000} s`;
  const watch = setTimeout(() => void child.kill(limit), loadTimeoutMs);
  const answer = await child.ask({ op: "load", folder, files, secrets });
  clearTimeout(watch);
  if ("value" in answer) return { child, loaded: answer.value as Loaded };
  const [code, message] = "gone" in answer ? ["", answer.gone] : [answer.error.code, answer.error.message];
  await child.kill(message);
  throw new SpotterError(code in ERROR_CODES ? (code as ErrorCode) : "user_code_invalid", message, {
    where: files.join(", "),
    hint: "Correct the file, or install what it imports for the python3 of this machine.",
  });
}

function resultOf(answer: Exclude<PythonAnswer, { gone: string }>): JobCallResult {
  if ("value" in answer) return { value: answer.value };
  return { error: { code: answer.error.code, message: answer.error.message } };
}

function failed({ op }: PythonCall, message: string): JobCallResult {
  return { error: { code: `${op}_failed`, message } };
}
