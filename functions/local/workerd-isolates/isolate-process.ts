import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "undici";
import { timerMs } from "../../../sdk/schema/timer-ms.ts";
import { failureOfExit, IsolateFailure } from "../../isolate-host/failure.ts";
import { BUNDLE_MODULE, MAIN_MODULE } from "../../isolate-host/main-module.ts";
import type { IsolateProcess, StartParams } from "../../isolate-host/isolate.ts";
import { outboundModule } from "../../isolate-host/outbound.ts";
import { configText } from "./config.ts";
import type { Launcher } from "./limits.ts";
import { watchMemory } from "./memory-watch.ts";

/** What workerd itself needs. */
const BASE_MIB = 64;
const MAX_REPLY_BYTES = 16 * 1024 * 1024;
const STDERR_TAIL = 8_000;

export interface ProcessParams extends StartParams {
  launcher: Launcher;
  workDir: string;
  memoryMiB: number;
  startTimeoutMs: number;
}

/** Starts one workerd and resolves when it listens. Throws {@link IsolateFailure} if it does not. */
export async function startProcess(params: ProcessParams): Promise<IsolateProcess> {
  const { launcher } = params;
  const folder = await writeFolder(params);
  const args = ["serve", join(folder, "config.capnp"), "config", "--control-fd=3"];
  const child = spawn(launcher.command, [...launcher.args, ...args], {
    env: {},
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const ended = endOf(child, params);
  const removed = ended.then(() => rm(folder, { recursive: true, force: true }));
  child.stdout?.on("data", params.onOutput);
  try {
    await listening(child, ended, params.startTimeoutMs);
  } catch (error) {
    await removed;
    throw error;
  }
  const client = new Client("http://isolate", {
    socketPath: join(folder, "s"),
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_REPLY_BYTES,
  });
  return processOf(child, client, ended, removed, params);
}

/** Readable by this user only; the socket in it is the isolate's only door. */
async function writeFolder({ workDir, memoryMiB, bundle, code }: ProcessParams): Promise<string> {
  const allowHosts = bundle.allowHosts ?? [];
  const folder = await mkdtemp(join(workDir, `isolate-${process.pid}-`));
  await chmod(folder, 0o700);
  const config = configText({ socketPath: join(folder, "s"), heapMiB: memoryMiB, allowHosts });
  await Promise.all([
    writeFile(join(folder, "config.capnp"), config),
    writeFile(join(folder, "main.mjs"), MAIN_MODULE),
    writeFile(join(folder, "out.mjs"), outboundModule(allowHosts)),
    writeFile(join(folder, BUNDLE_MODULE), code),
  ]);
  return folder;
}

function processOf(
  child: ChildProcess,
  client: Client,
  ended: Promise<IsolateFailure>,
  removed: Promise<void>,
  { launcher, memoryMiB }: ProcessParams,
): IsolateProcess {
  const pid = child.pid ?? 0;
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const end = async () => {
    child.kill("SIGKILL");
    await removed;
    await client.destroy();
  };
  return {
    get isAlive() {
      return isAlive();
    },
    end,
    async request(body, timeoutMs, signal) {
      signal?.throwIfAborted();
      const stop = new AbortController();
      let cause: "timeout" | "memory" | "caller" | undefined;
      const stopFor = (why: NonNullable<typeof cause>) => {
        cause ??= why;
        stop.abort();
      };
      const onAbort = () => stopFor("caller");
      const timer = setTimeout(() => stopFor("timeout"), timerMs(timeoutMs));
      const unwatch = launcher.limitsMemory
        ? undefined
        : watchMemory(pid, BASE_MIB + 2 * memoryMiB, () => stopFor("memory"));
      signal?.addEventListener("abort", onAbort);
      try {
        return await exchange(client, body, stop.signal);
      } catch (error) {
        // A broken connection means that the process is about to end, and its end says why.
        const failure = cause === undefined && isBroken(error) ? await soon(ended) : undefined;
        // Whatever went wrong, the isolate's state is unknown now: it is never asked again.
        await end();
        signal?.throwIfAborted();
        throw failure ?? failureFor(cause, error, timeoutMs, memoryMiB);
      } finally {
        clearTimeout(timer);
        unwatch?.();
        signal?.removeEventListener("abort", onAbort);
      }
    },
  };
}

async function exchange(
  client: Client,
  body: string | undefined,
  signal: AbortSignal,
): Promise<{ status: number; json: unknown }> {
  const reply = await client.request({
    path: "/",
    method: body === undefined ? "GET" : "POST",
    signal,
    ...(body === undefined ? {} : { body, headers: { "content-type": "text/plain" } }),
  });
  return { status: reply.statusCode, json: parse(await reply.body.text()) };
}

function failureFor(
  cause: string | undefined,
  error: unknown,
  timeoutMs: number,
  memoryMiB: number,
): IsolateFailure {
  if (cause === "timeout") return new IsolateFailure("timeout", `no answer within ${timeoutMs} ms`);
  if (cause === "memory") {
    return new IsolateFailure("isolate_out_of_memory", `the isolate used more than its ${memoryMiB} MiB`);
  }
  return asFailure(error);
}

function isBroken(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return ["UND_ERR_SOCKET", "ECONNRESET", "ECONNREFUSED", "EPIPE", "ENOENT"].includes(code);
}

/** Resolves, never rejects, with what the end of the process means. */
async function endOf(child: ChildProcess, { memoryMiB }: ProcessParams): Promise<IsolateFailure> {
  let tail = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("utf8")).slice(-STDERR_TAIL);
  });
  try {
    // "close", not "exit": the reason may still be in the pipe.
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    return failureOfExit({ code, signal }, tail, memoryMiB);
  } catch (error) {
    return asFailure(error);
  }
}

async function listening(
  child: ChildProcess,
  ended: Promise<IsolateFailure>,
  timeoutMs: number,
): Promise<void> {
  const control = child.stdio[3];
  if (!control) throw new IsolateFailure("isolate_crashed", "the isolate has no control pipe");
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timerMs(timeoutMs));
  try {
    const failure = await Promise.race([
      once(control, "data", { signal: abort.signal }).then(() => undefined),
      ended,
    ]);
    if (failure) throw failure;
  } catch (error) {
    child.kill("SIGKILL");
    await ended;
    throw abort.signal.aborted
      ? new IsolateFailure("timeout", `the isolate did not start within ${timeoutMs} ms`)
      : asFailure(error);
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // workerd answers in plain text when it gives up on a request.
    const why = "the code called process.exit, or waits for something that can never happen";
    throw new IsolateFailure("isolate_crashed", `${text.slice(0, 300) || "empty answer"} (${why})`);
  }
}

function soon(ended: Promise<IsolateFailure>): Promise<IsolateFailure | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), 2_000);
    void ended.then((failure) => {
      clearTimeout(timer);
      resolve(failure);
    });
  });
}

function asFailure(error: unknown): IsolateFailure {
  if (error instanceof IsolateFailure) return error;
  return new IsolateFailure("isolate_crashed", error instanceof Error ? error.message : String(error));
}
