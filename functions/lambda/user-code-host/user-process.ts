import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { timerMs } from "../../../sdk/schema/timer-ms.ts";
import { failureOfExit, IsolateFailure } from "../../isolate-host/failure.ts";
import { frameOf, frameReader } from "./frames.ts";

/** First message to the process. */
export interface Load {
  code: string;
  allowHosts: readonly string[];
}

export interface ProcessParams extends Load {
  file: string;
  flag: string;
  memoryMiB: number;
}

/** What Node itself needs. */
const BASE_MIB = 96;
const PAGE_BYTES = 4096;
const WATCH_EVERY_MS = 20;
const STDERR_TAIL = 8_000;
const MAX_OUTPUT = 256 * 1024;
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** One process with user code in it. After a failure it is gone; whoever needs it starts another. */
export class UserProcess {
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #memoryMiB: number;
  readonly #ended: Promise<IsolateFailure>;
  #onReply: (text: string) => void = () => {};
  #onBreak: (failure: IsolateFailure) => void = () => {};
  #failure: IsolateFailure | undefined;
  #output: Buffer[] = [];
  #outputBytes = 0;
  #stderr = "";
  /** The answer to the code itself. */
  #loading: Promise<string> | undefined;

  constructor({ file, flag, memoryMiB, ...load }: ProcessParams) {
    this.#memoryMiB = memoryMiB;
    const options = [
      "--permission",
      `--allow-fs-read=${file}`,
      "--disallow-code-generation-from-strings",
      `--max-old-space-size=${memoryMiB}`,
    ];
    this.#child = spawn(process.execPath, [...options, file, flag], {
      env: {},
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    this.#ended = this.#end().then((failure) => {
      this.#onBreak(failure);
      return (this.#failure = failure);
    });
    this.#pipe = this.#child.stdio[3] as Duplex;
    this.#pipe.on("error", () => {});
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#keep(chunk));
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-STDERR_TAIL);
    });
    const read = frameReader((text) => this.#onReply(text), MAX_REPLY_BYTES);
    this.#pipe.on("data", (chunk: Buffer) => {
      try {
        read(chunk);
      } catch (error) {
        this.#onBreak(new IsolateFailure("isolate_crashed", (error as Error).message));
      }
    });
    this.#loading = this.#exchange(JSON.stringify(load satisfies Load));
    this.#loading.catch(() => {});
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** "200{...}": status and JSON. Throws {@link IsolateFailure}, and the process is gone then. */
  async request(body: string, { timeoutMs, loadTimeoutMs }: { timeoutMs: number; loadTimeoutMs: number }) {
    const loading = this.#loading;
    if (loading) {
      const loaded = await this.#within(loading, loadTimeoutMs);
      if (!loaded.startsWith("200")) return loaded;
      this.#loading = undefined;
    }
    return this.#within(this.#exchange(body), timeoutMs);
  }

  /** What user code printed since the last call, once all that it wrote has arrived. */
  async takeOutput(): Promise<string> {
    let before = -1;
    while (before !== this.#outputBytes) {
      before = this.#outputBytes;
      await setImmediate();
      await setImmediate();
    }
    const text = Buffer.concat(this.#output).toString("utf8");
    this.#output = [];
    this.#outputBytes = 0;
    return text;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #exchange(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#onReply = resolve;
      this.#onBreak = reject;
      if (this.#failure) reject(this.#failure);
      else this.#pipe.write(frameOf(text));
    });
  }

  async #within(reply: Promise<string>, timeoutMs: number): Promise<string> {
    const stop = Promise.withResolvers<never>();
    const late = new IsolateFailure("timeout", `no answer within ${timeoutMs} ms`);
    const timer = setTimeout(() => stop.reject(late), timerMs(timeoutMs));
    const watch = setInterval(() => void this.#watch(stop.reject), WATCH_EVERY_MS);
    try {
      return await Promise.race([reply, stop.promise]);
    } catch (error) {
      await this.kill();
      throw error;
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
    }
  }

  /** `--max-old-space-size` does not cover typed arrays. */
  async #watch(stop: (failure: IsolateFailure) => void): Promise<void> {
    const statm = await readFile(`/proc/${this.#child.pid}/statm`, "utf8").catch(() => "");
    const residentMiB = (Number(statm.split(" ")[1] ?? 0) * PAGE_BYTES) / 1024 / 1024;
    if (residentMiB <= BASE_MIB + 2 * this.#memoryMiB) return;
    const message = `the isolate used more than its ${this.#memoryMiB} MiB`;
    stop(new IsolateFailure("isolate_out_of_memory", message));
  }

  #keep(chunk: Buffer): void {
    if (this.#outputBytes < MAX_OUTPUT) this.#output.push(chunk);
    this.#outputBytes += chunk.length;
  }

  /** Resolves, never rejects, with what the end of the process means. */
  async #end(): Promise<IsolateFailure> {
    try {
      const [code, signal] = (await once(this.#child, "close")) as [number | null, NodeJS.Signals | null];
      return failureOfExit({ code, signal }, this.#stderr, this.#memoryMiB);
    } catch (error) {
      return new IsolateFailure("isolate_crashed", (error as Error).message);
    }
  }
}
