import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { ContainerState } from "../../ports/containers.ts";
import { findProcess, isOfThisBoot, processStart, signalGroup } from "../process-identity.ts";
import { exitReason } from "./exit-reason.ts";
import { tailLines, noteInLog } from "./log-file.ts";
import { readExitCode, saveRecord, type ContainerPaths, type ContainerRecord } from "./record.ts";
import { spawnContainer } from "./spawn.ts";

const TAIL_LINES = 200;

/** One container: its record, and the process while there is one. */
export class Container {
  readonly paths: ContainerPaths;
  record: ContainerRecord;
  /** Ends when the process and its work folder are gone. */
  readonly gone: Promise<void>;
  /** Told to end. */
  asked = false;
  #begun = false;
  #child: ChildProcess | undefined;
  #pid: number | undefined;
  readonly #resolveGone: () => void;

  constructor(paths: ContainerPaths, record: ContainerRecord) {
    this.paths = paths;
    this.record = record;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gone = promise;
    this.#resolveGone = resolve;
    if (record.state === "exited") resolve();
  }

  get jobId(): string {
    return this.record.jobId;
  }

  get waiting(): boolean {
    return this.record.state === "intent" && !this.#begun;
  }

  get active(): boolean {
    return this.record.state === "running" || (this.record.state === "intent" && this.#begun);
  }

  /** Runs, but not as a child of this process. */
  get adopted(): boolean {
    return this.record.state === "running" && this.#child === undefined;
  }

  save(record: ContainerRecord): void {
    this.record = record;
    saveRecord(this.paths.record, record);
  }

  /** One that has not begun will begin with what it was last launched with: its older token may be void. */
  renew(environment: Record<string, string>): void {
    if (this.waiting && this.record.state === "intent") this.save({ ...this.record, environment });
  }

  /** Starts the process of a stored intent. `onExit` is called once, with what the system says. */
  async start(
    command: readonly string[],
    environment: Record<string, string>,
    onExit: (code: number | null, signal: NodeJS.Signals | null) => void,
  ): Promise<void> {
    const base = baseOf(this.record);
    this.#begun = true;
    const child = spawnContainer({ paths: this.paths, name: `spotter-${base.kind}`, command, environment });
    child.unref();
    child.once("error", (error) => {
      noteInLog(this.paths.log, `The process could not be started: ${error.message}`);
      onExit(null, null);
    });
    if (child.pid === undefined) return;
    const pid = child.pid;
    this.#child = child;
    this.#pid = pid;
    let ended = false;
    child.once("exit", (code, signal) => {
      ended = true;
      onExit(code, signal);
    });
    const startedAt = await processStart(pid);
    if (ended || startedAt === undefined) return;
    this.save({ ...base, state: "running", pid, startedAt });
  }

  /** Takes over the process that an earlier daemon started; false if there is none. */
  async adopt(): Promise<boolean> {
    const base = baseOf(this.record);
    if (this.record.state === "running") {
      const { pid, startedAt } = this.record;
      const start = await processStart(pid);
      // A pid stays taken while its group has members. So with nobody under it, a group of that number is
      // what this container left behind, and with somebody else under it, there is nothing left.
      if (start === startedAt || (start === undefined && isOfThisBoot(startedAt))) this.#pid = pid;
      return start === startedAt;
    }
    // The earlier daemon may have ended after starting the process and before writing its id down.
    const pid = await findProcess(this.paths.exitCode);
    const startedAt = pid === undefined ? undefined : await processStart(pid);
    if (pid === undefined || startedAt === undefined) return false;
    this.#pid = pid;
    this.save({ ...base, state: "running", pid, startedAt });
    return true;
  }

  async alive(): Promise<boolean> {
    const { record } = this;
    return record.state === "running" && (await processStart(record.pid)) === record.startedAt;
  }

  signal(signal: NodeJS.Signals): void {
    // While somebody waits for the end, the process that waits must not end first.
    this.#child?.ref();
    if (this.#pid !== undefined) signalGroup(this.#pid, signal);
  }

  /** Writes the end down and clears up. Code and signal are unknown for a process that was adopted. */
  async finish(endedAtMs: number, code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    // What the program started and left behind ends with it.
    if (this.#pid !== undefined) signalGroup(this.#pid, "SIGKILL");
    const base = baseOf(this.record);
    const exitCode = code ?? readExitCode(this.paths);
    const reason = exitReason({ exitCode, signal, asked: this.asked, logTail: this.tail(TAIL_LINES) });
    this.#pid = undefined;
    this.#child = undefined;
    this.record = { ...base, state: "exited", endedAtMs, exitCode, reason };
    try {
      saveRecord(this.paths.record, this.record);
      rmSync(this.paths.exitCode, { force: true });
      await rm(this.paths.work, { recursive: true, force: true, maxRetries: 5 });
    } finally {
      this.#resolveGone();
    }
  }

  describe(redact: (text: string) => string): ContainerState {
    const { record } = this;
    if (record.state === "running") return { state: "running" };
    if (record.state === "intent") {
      return this.waiting ? { state: "waiting", reason: "capacity" } : { state: "starting" };
    }
    const { exitCode, reason } = record;
    return { state: "exited", exitCode, reason, logTail: this.tail(TAIL_LINES).map(redact) };
  }

  tail(lines: number): string[] {
    return tailLines(this.paths.log, lines);
  }
}

function baseOf({
  v,
  jobId,
  kind,
  engine,
}: ContainerRecord): Pick<ContainerRecord, "v" | "jobId" | "kind" | "engine"> {
  return { v, jobId, kind, ...(engine && { engine }) };
}
