import { SpotterError } from "../../sdk/schema/errors.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import {
  isolateDescription,
  type IsolateOutcome,
  type IsolateRequest,
  type UserCodeExport,
} from "../../sdk/schema/user-code.ts";
import { createRedactor, type Redactor } from "../secrets/redactor.ts";
import type { IsolateBundle } from "../ports/isolates.ts";
import { IsolateFailure } from "./failure.ts";
import { logGate, userMessage } from "./log-lines.ts";
import { outcomesOf } from "./reply.ts";
import { splitBundle, type SplitBundle } from "./source-positions.ts";

/** A line that user code printed. */
export interface UserMessage {
  sha256: string;
  level: string;
  text: string;
}

/** One running instance of the runtime, with one bundle in it. */
export interface IsolateProcess {
  readonly isAlive: boolean;
  /**
   * Text in (none: a GET), JSON out. At the deadline, when the signal aborts or when it breaks, the process is
   * ended. Throws {@link IsolateFailure}, or what the signal was aborted with.
   */
  request(
    body: string | undefined,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<{ status: number; json: unknown }>;
  /** Resolves when the process and its files are gone. */
  end(): Promise<void>;
}

export interface StartParams {
  /** The bundle without its source map. */
  code: string;
  /** The bundle as it came. */
  bundle: IsolateBundle;
  /** Gets the structured log that user code writes. */
  onOutput: (chunk: Buffer) => void;
}

export interface IsolateSettings {
  /** Resolves when the process listens. Throws {@link IsolateFailure} if it does not. */
  start: (params: StartParams) => Promise<IsolateProcess>;
  /** Longest time from start to the module being loaded. */
  loadTimeoutMs: number;
  idleTimeoutMs: number;
  onMessage: (message: UserMessage) => void;
  /** Isolates with a process or about to have one; whoever closes them all ends these. */
  live: Set<Isolate>;
  isClosed: () => boolean;
}

export interface RunOptions {
  timeoutMs: number;
  hostTimeoutMs: number;
  signal: AbortSignal | undefined;
}

/** One bundle's process, started when it is needed and ended when it was idle for a while. */
export class Isolate {
  exports: UserCodeExport[] = [];
  others: string[] = [];
  #isJoint = false;
  readonly #bundle: IsolateBundle;
  readonly #settings: IsolateSettings;
  readonly #source: SplitBundle;
  readonly #redactors: Redactor[];
  readonly #log = logGate((line) => this.#onLine(line));
  #process: IsolateProcess | undefined;
  /** Settles, and never rejects, when the last start has. */
  #starting: Promise<void> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  #isStarting = false;
  #calls = 0;

  constructor(bundle: IsolateBundle, settings: IsolateSettings) {
    this.#bundle = bundle;
    this.#settings = settings;
    this.#source = splitBundle(bundle.code);
    this.#redactors = Object.entries(bundle.secrets).map(([name, value]) =>
      createRedactor([value], `[secret ${name}]`),
    );
  }

  /** Whether nothing has run since the process started. */
  get isFresh(): boolean {
    return this.#process?.isAlive !== true || this.#calls === 0;
  }

  get isRunning(): boolean {
    return this.#process?.isAlive === true;
  }

  /** Starts the process if none runs. Throws `user_code_invalid` if the module does not load. */
  async start(): Promise<void> {
    if (this.#settings.isClosed()) throw closed();
    clearTimeout(this.#idle);
    if (this.#process?.isAlive) return;
    this.#settings.live.add(this);
    const starting = this.#launch().finally(() => (this.#isStarting = false));
    this.#isStarting = true;
    this.#starting = starting.catch(() => {});
    try {
      await starting;
    } catch (error) {
      await this.end();
      if (this.#settings.isClosed()) throw closed();
      throw error;
    }
  }

  /**
   * Outcomes by export, then by row. `rowsText`: the rows as JSON. Throws {@link IsolateFailure} if the process
   * is lost; the next call starts another.
   */
  async run(
    exportNames: string[],
    rowsText: string,
    count: number,
    options: RunOptions,
  ): Promise<IsolateOutcome[][]> {
    await this.start();
    if (this.#isJoint)
      return this.#ask(this.#header(exportNames, options) + rowsText, exportNames.length, count, options);
    const all: IsolateOutcome[][] = [];
    for (const name of exportNames) {
      const body = {
        export: name,
        rows: JSON.parse(rowsText) as unknown,
        secrets: this.#bundle.secrets,
        timeoutMs: options.timeoutMs,
      };
      all.push(...(await this.#ask(JSON.stringify(body), 1, count, options)));
    }
    return all;
  }

  #header(exports: string[], { timeoutMs }: RunOptions): string {
    const header: IsolateRequest = { exports, secrets: this.#bundle.secrets, timeoutMs };
    return `${JSON.stringify(header)}\n`;
  }

  async #ask(body: string, exports: number, rows: number, options: RunOptions): Promise<IsolateOutcome[][]> {
    const running = this.#process;
    if (!running) throw new IsolateFailure("isolate_crashed", "the isolate ended");
    this.#calls += 1;
    this.#log.start();
    const { status, json } = await running.request(body, options.hostTimeoutMs, options.signal);
    const results = (json as { results?: unknown } | null)?.results;
    const outcomes = outcomesOf(this.#isJoint ? results : [results], exports, rows);
    if (status === 200 && typeof outcomes !== "string") return outcomes;
    await this.end();
    throw new IsolateFailure("isolate_crashed", `the isolate answered ${status} with ${outcomes as string}`);
  }

  /** Message with the user's own position, secrets blacked out. */
  explain(message: string, stack: string | undefined): { message: string; where?: string } {
    const where = stack === undefined ? undefined : this.#source.positionOf(stack);
    const text = where === undefined ? message : `${message} (${where})`;
    return { message: this.#redact(text), ...(where === undefined ? {} : { where }) };
  }

  /** Ends the process in a while unless it is used again. */
  rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.end(), this.#settings.idleTimeoutMs).unref();
  }

  async end(): Promise<void> {
    clearTimeout(this.#idle);
    const running = this.#process;
    this.#process = undefined;
    await running?.end();
    if (!this.#process && !this.#isStarting) this.#settings.live.delete(this);
  }

  /** After everything was declared closed: also waits for what is just starting. */
  async close(): Promise<void> {
    await this.end();
    await this.#starting;
    await this.end();
  }

  async #launch(): Promise<void> {
    const { start, loadTimeoutMs } = this.#settings;
    this.#process = await start({
      code: this.#source.code,
      bundle: this.#bundle,
      onOutput: (chunk) => this.#log.write(chunk),
    }).catch((error: unknown) => {
      // The runtime parses modules before it listens: broken code is the one thing here that is the user's.
      const [, message, stack] =
        /Uncaught (.*)([^]*)/.exec(error instanceof Error ? error.message : "") ?? [];
      throw message === undefined ? didNotStart(error) : this.#loadFailure(message, stack);
    });
    this.#calls = 0;
    // Closed while it was starting: nobody else knows of this process yet.
    if (this.#settings.isClosed()) throw closed();
    const { status, json } = await this.#process.request(undefined, loadTimeoutMs).catch((error: unknown) => {
      throw error instanceof IsolateFailure ? this.#loadFailure(error.message, undefined) : error;
    });
    const load = (json as { load?: { message: string; stack: string } } | null)?.load;
    if (load) throw this.#loadFailure(load.message, load.stack);
    if (status !== 200) throw this.#loadFailure(`it answered ${status}`, undefined);
    const described = parseWith(isolateDescription, json, "The module's description of itself", {
      code: "user_code_invalid",
      hint: "Bundle the file with this version of Spotter.",
    });
    this.exports = described.exports;
    this.others = described.others;
    this.#isJoint = described.joint === true;
  }

  #loadFailure(message: string, stack: string | undefined): SpotterError {
    const explained = this.explain(message, stack);
    return new SpotterError("user_code_invalid", `The code does not load: ${explained.message}`, {
      where: explained.where,
      hint: "What stands outside of functions runs when the file is loaded, without network or files; correct it there.",
    });
  }

  #onLine(line: string): void {
    const entry = userMessage(line);
    if (!entry) return;
    const { level, message } = entry;
    this.#settings.onMessage({ sha256: this.#bundle.sha256, level, text: this.#redact(message) });
  }

  #redact(text: string): string {
    return this.#redactors.reduce((result, { redact }) => redact(result), text);
  }
}

function closed(): SpotterError {
  return new SpotterError("isolate_crashed", "The isolates are closed.");
}

/** The machine's fault, not the code's. */
function didNotStart(error: unknown): SpotterError {
  if (SpotterError.is(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new SpotterError("isolate_crashed", `The isolate did not start: ${message}`, {
    hint: "Check that the package workerd is installed for this platform (npm ci) and that the state folder is writable.",
    cause: error,
  });
}
