import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { parseExactly } from "../../sdk/schema/exact-json.ts";
import type { ContainerLog } from "../agent/log.ts";
import { boundedLines } from "./python-log.ts";

/** What a call came to; `gone`: the process ended before it answered. */
export type PythonAnswer =
  { value: unknown } | { error: { code: string; message: string; stuck?: boolean } } | { gone: string };

/** One Python process that runs user code. */
export interface PythonChild {
  readonly pid: number;
  /** Never rejects: a process that ends answers everything with `gone`. */
  ask(body: Record<string, unknown>): Promise<PythonAnswer>;
  /** Ends it and what it started, for this reason. Resolves when it is gone. */
  kill(reason: string): Promise<void>;
}

export interface PythonChildParams {
  python: string;
  workDir: string;
  environment: Record<string, string | undefined>;
  log: Pick<ContainerLog, "info" | "warn">;
}

const PIPE_MS = 1_000;

const HOST = fileURLToPath(new URL("../python/user_code.py", import.meta.url));

/** Read by the engine's own process, or its credentials: nothing of user code. */
const WITHHELD = /^(SPOTTER_|NODE_|AWS_|ECS_|GLIBC_TUNABLES$)/;

/** Starts the host of user code as the leader of a process group of its own. */
export async function startPythonChild(params: PythonChildParams): Promise<PythonChild> {
  const { python, workDir, environment, log } = params;
  const child = spawn(python, ["-u", "-B", HOST, String(process.pid)], {
    cwd: workDir,
    env: Object.fromEntries(Object.entries(environment).filter(([name]) => !WITHHELD.test(name))),
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const waiting = new Map<number, (answer: PythonAnswer) => void>();
  let reason: string | undefined;
  let ended: string | undefined;
  let next = 1;
  // A process that ends while it is written to is told by its exit, not by the pipe.
  child.stdin.on("error", () => undefined);
  boundedLines(child.stderr, (line) => log.info(`python: ${line}`));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, ...answer } = parseExactly(line) as { id: number } & PythonAnswer;
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  const gone = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      endGroup(child.pid);
      const settleAll = () => {
        ended = reason ?? `the Python process ended (${signal ?? `exit code ${String(code)}`})`;
        for (const settle of waiting.values()) settle({ gone: ended });
        waiting.clear();
        resolve();
      };
      // What it answered before is still in the pipe, which something that left the group may hold open.
      const patience = setTimeout(settleAll, PIPE_MS);
      child.once("close", () => {
        clearTimeout(patience);
        settleAll();
      });
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => reject(pythonMissing(python, cause)));
  });
  const pid = child.pid ?? 0;
  return {
    pid,
    ask: (body) =>
      new Promise((resolve) => {
        if (ended !== undefined) return resolve({ gone: ended });
        const id = next++;
        waiting.set(id, resolve);
        child.stdin.write(`${JSON.stringify({ ...body, id })}\n`);
      }),
    kill: async (why) => {
      reason ??= why;
      endGroup(pid);
      await gone;
    },
  };
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid === undefined) return;
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

function pythonMissing(python: string, cause: unknown): SpotterError {
  return new SpotterError("python_missing", `${python} cannot be started here.`, {
    hint: "Install Python 3.9 or newer so that python3 is on the PATH, or write the code in TypeScript.",
    cause,
  });
}
