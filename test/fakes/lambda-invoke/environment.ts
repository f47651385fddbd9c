import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";

/** What Lambda's own runtime does, as far as a handler can tell. */
const RUNTIME = `
import { Socket } from "node:net";
const socket = new Socket({ fd: 3, readable: true, writable: true });
const answer = (message) => socket.write(JSON.stringify(message) + "\\n");
const handlerOf = import(process.argv[2]).then(({ handler }) => handler);
handlerOf.then(() => answer({ ready: true }));
const chunks = [];
// Whoever tested is gone: so is the sandbox.
socket.on("close", () => process.kill(-process.pid, "SIGKILL"));
socket.setEncoding("utf8").on("data", async (chunk) => {
  chunks.push(chunk);
  if (!chunk.endsWith("\\n")) return;
  const event = JSON.parse(chunks.splice(0).join(""));
  try {
    answer({ payload: JSON.stringify(await (await handlerOf)(event, { getRemainingTimeInMillis: () => 1000 })) });
  } catch (error) {
    const body = { errorType: error.name, errorMessage: error.message, trace: String(error.stack).split("\\n") };
    answer({ payload: JSON.stringify(body), error: "Unhandled" });
  }
});
`;
const WATCH_EVERY_MS = 20;
const LOG_TAIL = 4_096;

export interface Answer {
  payload: string;
  error?: string;
  log: string;
}

export interface EnvironmentParams {
  folder: string;
  files: ReadonlyMap<string, Buffer>;
  memoryMiB: number;
  timeoutMs: number;
}

type Message = { ready?: true; payload?: string; error?: string };

/** One execution environment: a process group that is ended as a whole, as Lambda ends a sandbox. */
export class Environment {
  isAlive = true;
  readonly #params: EnvironmentParams;
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended: Promise<void>;
  #answered: (message: { payload: string; error?: string }) => void = () => {};
  #log = "";

  constructor(params: EnvironmentParams) {
    this.#params = params;
    const { folder, files, memoryMiB } = params;
    mkdirSync(folder, { recursive: true });
    for (const [name, content] of files) writeFileSync(join(folder, name), content);
    writeFileSync(join(folder, "runtime.mjs"), RUNTIME);
    const args = [
      `--max-old-space-size=${memoryMiB}`,
      join(folder, "runtime.mjs"),
      join(folder, "index.mjs"),
    ];
    this.#child = spawn(process.execPath, args, {
      env: {
        AWS_LAMBDA_FUNCTION_NAME: "fake",
        AWS_ACCESS_KEY_ID: "ASIAFAKEROLE",
        AWS_SECRET_ACCESS_KEY: "role-secret-key",
        AWS_SESSION_TOKEN: "role-session-token",
      },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      detached: true,
    });
    const keep = (chunk: Buffer) => (this.#log = (this.#log + chunk.toString("utf8")).slice(-LOG_TAIL));
    this.#child.stdout?.on("data", keep);
    this.#child.stderr?.on("data", keep);
    this.#pipe = this.#child.stdio[3] as Duplex;
    this.#pipe.on("error", () => {});
    const chunks: string[] = [];
    this.#pipe.setEncoding("utf8").on("data", (chunk: string) => {
      chunks.push(chunk);
      if (chunk.endsWith("\n")) this.#onMessages(chunks.splice(0).join(""));
    });
    this.#ended = once(this.#child, "close").then(([code, signal]) =>
      this.#onEnd(code as number, signal as string),
    );
  }

  async invoke(event: string): Promise<Answer> {
    const requestId = randomUUID();
    const answered = new Promise<{ payload: string; error?: string }>(
      (resolve) => (this.#answered = resolve),
    );
    await Promise.race([this.#ready.promise, this.#ended]);
    const timeout = setTimeout(() => {
      const seconds = (this.#params.timeoutMs / 1000).toFixed(2);
      this.#die("Sandbox.Timedout", `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`);
    }, this.#params.timeoutMs);
    const watch = setInterval(() => {
      if (residentMiB(this.#child.pid ?? 0) <= this.#params.memoryMiB) return;
      this.#die(
        "Runtime.OutOfMemory",
        `RequestId: ${requestId} Error: Runtime exited with error: signal: killed`,
      );
    }, WATCH_EVERY_MS);
    if (this.isAlive) this.#pipe.write(`${event}\n`);
    const answer = await answered;
    clearTimeout(timeout);
    clearInterval(watch);
    const log = `START RequestId: ${requestId} Version: $LATEST\n${this.#log}\nEND RequestId: ${requestId}\n`;
    this.#log = "";
    return { ...answer, log };
  }

  async end(): Promise<void> {
    this.isAlive = false;
    kill(this.#child.pid);
    await this.#ended;
    rmSync(this.#params.folder, { recursive: true, force: true });
  }

  #onMessages(lines: string): void {
    for (const line of lines.trimEnd().split("\n")) {
      const { ready, payload = "null", error } = JSON.parse(line) as Message;
      if (ready) this.#ready.resolve();
      else this.#answered({ payload, ...(error && { error }) });
    }
  }

  #die(errorType: string, errorMessage: string): void {
    this.isAlive = false;
    this.#answered({ payload: JSON.stringify({ errorType, errorMessage }), error: "Unhandled" });
    kill(this.#child.pid);
  }

  #onEnd(code: number | null, signal: string | null): void {
    const how =
      signal === null ? `exit status ${code}` : `signal: ${signal === "SIGKILL" ? "killed" : signal}`;
    this.#die("Runtime.ExitError", `RequestId: 0 Error: Runtime exited with error: ${how}`);
  }
}

/** The whole group: what the handler started dies with it. */
function kill(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

function residentMiB(pid: number): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    const below = children.filter((child) => child !== "").map((child) => residentMiB(Number(child)));
    return (pages * 4096) / 1024 / 1024 + below.reduce((sum, each) => sum + each, 0);
  } catch {
    return 0;
  }
}
