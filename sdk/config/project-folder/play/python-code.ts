import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { packPython } from "../../../python-bundle.ts";
import { SpotterError } from "../../../schema/errors.ts";
import { parseExactly } from "../../../schema/exact-json.ts";
import type { JobCallResult, ToolDefinition } from "../../../schema/job.ts";
import { parseWith } from "../../../schema/parse.ts";
import {
  pythonHostReady,
  pythonHostReply,
  type PythonHostReply,
  type PythonHostSetup,
} from "../../../schema/python-host.ts";
import type { RewardRow, Verdict } from "../../../schema/rollout.ts";
import { pythonBundle } from "../../../schema/user-code.ts";
import { readEnv } from "../secrets.ts";
import type { PlayedCall } from "./conversation.ts";

export interface PythonCodeParams {
  /** The project's. */
  folder: string;
  /** Which of the files are run, and how long a call may take. */
  code: PythonHostSetup["code"];
  /** Names of secrets that the code may read: values of .env, else of the environment. */
  secrets: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  /** Where environments with what requirements.txt names are kept. */
  cacheFolder: string;
  /** What user code prints, a line at a time. */
  onLine: (line: string) => void;
  signal: AbortSignal;
}

/** rewards.py and tools.py, in a process of this machine. */
export interface PythonCode {
  rewards: string[];
  tools: ToolDefinition[];
  judge: (rows: RewardRow[], signal: AbortSignal) => Promise<Verdict[]>;
  /** Calls in one conversation, with the row that it is about. */
  callTools: (
    calls: PlayedCall[],
    row: Record<string, unknown>,
    signal: AbortSignal,
  ) => Promise<JobCallResult[]>;
  /** Resolves when the process is gone. */
  close: () => Promise<void>;
}

/**
 * Starts the process that runs Python beside a trainer, without the trainer.
 *
 * @throws SpotterError `python_missing`, `user_code_invalid`, `reward_missing`, `tool_missing` or, for a secret without
 * a value, `not_found`.
 */
export async function openPythonCode(params: PythonCodeParams): Promise<PythonCode> {
  const { folder, code, cacheFolder, signal } = params;
  const at = (part: { file: string } | undefined) => part && { file: join(folder, part.file) };
  const [rewards, tools] = [at(code.rewards), at(code.tools)];
  const { bytes } = packPython({ ...(rewards && { rewards }), ...(tools && { tools }) });
  const bundle = parseWith(
    pythonBundle,
    JSON.parse(new TextDecoder().decode(bytes as Uint8Array)),
    "The Python files",
  );
  const secrets = await valuesOf(params);
  const host = startHost(params);
  const stop = () => host.end();
  signal.addEventListener("abort", stop, { once: true });
  const setup: PythonHostSetup = { bundle, code, secrets, cacheFolder };
  const ready = parseWith(pythonHostReady, await host.begin(setup), "The answer of Python's host");
  if ("error" in ready) {
    await host.close();
    throw SpotterError.fromBody(ready, 400);
  }
  return {
    ...ready,
    async judge(rows, during) {
      const reply = await host.ask({ rows }, during);
      return "verdicts" in reply ? reply.verdicts : [];
    },
    async callTools(calls, row, during) {
      const reply = await host.ask({ calls, row }, during);
      return "results" in reply ? reply.results : [];
    },
    async close() {
      signal.removeEventListener("abort", stop);
      await host.close();
    },
  };
}

function startHost({ environment, onLine }: PythonCodeParams) {
  const program = new URL(
    `../../../../engine/python-host.${import.meta.url.split(".").at(-1)}`,
    import.meta.url,
  );
  const child = spawn(process.execPath, [fileURLToPath(program)], {
    stdio: ["pipe", "pipe", "pipe"],
    env: environment,
  });
  const waiting = new Map<number, (line: unknown) => void>();
  let next = 1;
  let ended: SpotterError | undefined;
  // What it is told after its end is told nobody.
  child.stdin.on("error", () => undefined);
  createInterface({ input: child.stderr }).on("line", onLine);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = parseExactly(line) as { id?: number };
    const settle = waiting.get(answer.id ?? 0);
    waiting.delete(answer.id ?? 0);
    settle?.(answer);
  });
  const gone = new Promise<void>((resolve) => {
    child.once("close", (code) => {
      ended = new SpotterError("internal", `The process that runs Python ended (exit code ${String(code)}).`);
      for (const settle of waiting.values()) settle(ended.toBody());
      resolve();
    });
  });
  const wait = (id: number, line: object) =>
    new Promise<unknown>((resolve) => {
      if (ended) return resolve({ id, ...ended.toBody() });
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify(line)}\n`);
    });
  return {
    begin: (setup: PythonHostSetup) => wait(0, setup),
    async ask(line: object, signal: AbortSignal): Promise<PythonHostReply> {
      const id = next++;
      const answer = await unlessAborted(wait(id, { ...line, id }), signal);
      const reply = parseWith(pythonHostReply, { id, ...(answer as object) }, "The answer of Python's host");
      if ("error" in reply) throw SpotterError.fromBody({ error: reply.error }, 400);
      return reply;
    },
    end: () => child.stdin.end(),
    async close() {
      child.stdin.end();
      await gone;
    },
  };
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Python of a test is this machine's, and so are the secrets that it may see. */
async function valuesOf({ folder, secrets, environment }: PythonCodeParams): Promise<Record<string, string>> {
  const path = join(folder, ".env");
  const { values } = readEnv(secrets.length > 0 && existsSync(path) ? await readFile(path, "utf8") : "");
  const found = secrets.map((name) => [name, values.get(name)?.value ?? environment[name]] as const);
  const missing = found.flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length === 0) return Object.fromEntries(found) as Record<string, string>;
  throw new SpotterError(
    "not_found",
    `${missing.join(", ")} is set neither in .env nor in the environment.`,
    {
      where: "--secret",
      hint: `Add a line ${missing[0]}=... to .env, which stays with you. Stored secrets are for code in isolates.`,
    },
  );
}
