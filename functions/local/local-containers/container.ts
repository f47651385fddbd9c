import type { Failure } from "../../../sdk/schema/errors.ts";
import type { ContainerReason, ContainerState } from "../../ports/containers.ts";
import { tailLines } from "./log-file.ts";
import { saveRecord, type ContainerPaths, type ContainerRecord } from "./record.ts";

export const TAIL_LINES = 200;

/** What is told of a container's end by whoever runs it. */
export interface ContainerEnd {
  /** Null where nobody knows it. */
  exitCode: number | null;
  signal?: NodeJS.Signals | null;
  /** The system took it for want of memory, for certain. */
  isOutOfMemory?: boolean;
  /** Why it never ran, where that is known for certain. */
  failure?: Failure;
}

/** How a container tells of itself. */
export interface ContainerEvents {
  /** It waits for something else now, or runs. */
  changed(): void;
  /** Once. */
  ended(end: ContainerEnd): void;
}

/** One container of this machine: its record, and whatever runs while it does. */
export abstract class Container {
  readonly paths: ContainerPaths;
  record: ContainerRecord;
  /** Ends when what ran and its work folder are gone. */
  readonly gone: Promise<void>;
  /** Told to end. */
  asked = false;
  protected begun = false;
  readonly #resolveGone: () => void;

  constructor(paths: ContainerPaths, record: ContainerRecord) {
    this.paths = paths;
    this.record = record;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gone = promise;
    this.#resolveGone = resolve;
    if (record.state === "exited") resolve();
  }

  /** It takes the machine's processors and GPUs for itself. */
  get isBudgeted(): boolean {
    const { kind, isBeside } = this.record;
    return kind === "train" || (kind === "convert" && isBeside !== true);
  }

  /** Starts what a stored intent asks for. */
  abstract start(events: ContainerEvents): Promise<void>;
  /** Takes over what an earlier daemon started; false if there is none. */
  abstract adopt(events: ContainerEvents): Promise<boolean>;
  /** Whether it has to be asked if it is {@link alive}, since nobody tells when it ends. */
  abstract get isPolled(): boolean;
  abstract alive(): Promise<boolean>;
  abstract signal(signal: NodeJS.Signals): void;
  /** Lets it run on for the next daemon. */
  abstract leave(): void;
  /** Ends what it left behind that still runs. */
  protected abstract endRest(): void;
  /** Exit code and reason, from what was told and what is on the disk. */
  protected abstract verdict(end: ContainerEnd): {
    exitCode: number | null;
    reason: ContainerReason | "done";
  };
  /** Removes what it needed while it ran. */
  protected abstract clear(): Promise<void>;

  get jobId(): string {
    return this.record.jobId;
  }

  get waiting(): boolean {
    return this.record.state === "intent" && !this.begun;
  }

  get active(): boolean {
    return this.record.state === "running" || (this.record.state === "intent" && this.begun);
  }

  save(record: ContainerRecord): void {
    this.record = record;
    saveRecord(this.paths.record, record);
  }

  /** One that has not begun will begin with what it was last launched with: its older token may be void. */
  renew(environment: Record<string, string>): void {
    if (this.waiting && this.record.state === "intent") this.save({ ...this.record, environment });
  }

  /** Writes the end down and clears up. */
  async finish(endedAtMs: number, end: ContainerEnd): Promise<void> {
    this.endRest();
    const { failure } = end;
    const { exitCode, reason } = this.verdict(end);
    const base = baseOf(this.record);
    this.record = { ...base, state: "exited", endedAtMs, exitCode, reason, ...(failure && { failure }) };
    try {
      saveRecord(this.paths.record, this.record);
      await this.clear();
    } finally {
      this.#resolveGone();
    }
  }

  async describe(redact: (text: string) => string): Promise<ContainerState> {
    const { record } = this;
    if (record.state === "running") return { state: "running" };
    if (record.state === "intent") {
      return this.waiting ? { state: "waiting", reason: "capacity" } : this.beginning();
    }
    const { exitCode, reason, failure } = record;
    const logTail = (await this.tail(TAIL_LINES)).map(redact);
    return { state: "exited", exitCode, reason, logTail, ...(failure && { failure }) };
  }

  /** The state between its begin and that it runs. */
  protected beginning(): ContainerState {
    return { state: "starting" };
  }

  async tail(lines: number): Promise<string[]> {
    return tailLines(this.paths.log, lines);
  }
}

export function baseOf(
  record: ContainerRecord,
): Pick<ContainerRecord, "v" | "jobId" | "kind" | "engine" | "platform" | "isBeside"> {
  const { v, jobId, kind, engine, platform, isBeside } = record;
  return {
    v,
    jobId,
    kind,
    ...(engine && { engine }),
    ...(platform && { platform }),
    ...(isBeside && { isBeside }),
  };
}
