import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import {
  baseOf,
  Container,
  TAIL_LINES,
  type ContainerEnd,
  type ContainerEvents,
} from "../local-containers/container.ts";
import { noteInLog, tailLines } from "../local-containers/log-file.ts";
import { readExitCode, type ContainerPaths, type ContainerRecord } from "../local-containers/record.ts";
import { findProcess, isOfThisBoot, processStart, signalGroup } from "../process-identity.ts";
import { exitReason } from "./exit-reason.ts";
import { programOf, type Programs } from "./program.ts";
import { spawnContainer } from "./spawn.ts";

/** A container that is a process of this machine with its descendants, in a process group of its own. */
export class ProcessContainer extends Container {
  readonly #programs: Programs;
  #child: ChildProcess | undefined;
  #pid: number | undefined;

  constructor(paths: ContainerPaths, record: ContainerRecord, programs: Programs) {
    super(paths, record);
    this.#programs = programs;
  }

  /** Runs, but not as a child of this process. */
  get isPolled(): boolean {
    return this.record.state === "running" && this.#child === undefined;
  }

  async start(events: ContainerEvents): Promise<void> {
    if (this.record.state !== "intent") return;
    const { command, environment } = programOf(this.#programs, this.record);
    const base = baseOf(this.record);
    const variables = { ...environment, ...this.record.environment };
    this.begun = true;
    const name = `spotter-${base.kind}`;
    const child = spawnContainer({ paths: this.paths, name, command, environment: variables });
    child.unref();
    child.once("error", (error) => {
      noteInLog(this.paths.log, `The process could not be started: ${error.message}`);
      events.ended({ exitCode: null });
    });
    if (child.pid === undefined) return;
    const pid = child.pid;
    this.#child = child;
    this.#pid = pid;
    let isOver = false;
    child.once("exit", (exitCode, signal) => {
      isOver = true;
      events.ended({ exitCode, signal });
    });
    const startedAt = await processStart(pid);
    if (isOver || startedAt === undefined) return;
    this.save({ ...base, state: "running", pid, startedAt });
  }

  async adopt(): Promise<boolean> {
    const base = baseOf(this.record);
    if (this.record.state === "running" && "pid" in this.record) {
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
    if (record.state !== "running" || !("pid" in record)) return false;
    return (await processStart(record.pid)) === record.startedAt;
  }

  signal(signal: NodeJS.Signals): void {
    // While somebody waits for the end, the process that waits must not end first.
    this.#child?.ref();
    if (this.#pid !== undefined) signalGroup(this.#pid, signal);
  }

  /** It is nobody's child that would end with its parent. */
  leave(): void {}

  protected endRest(): void {
    if (this.#pid !== undefined) signalGroup(this.#pid, "SIGKILL");
    this.#pid = undefined;
    this.#child = undefined;
  }

  /** Code and signal are unknown for a process that was adopted; its shell wrote the code down. */
  protected verdict({ exitCode: told, signal = null }: ContainerEnd) {
    const exitCode = told ?? readExitCode(this.paths);
    const logTail = tailLines(this.paths.log, TAIL_LINES);
    return { exitCode, reason: exitReason({ exitCode, signal, asked: this.asked, logTail }) };
  }

  protected async clear(): Promise<void> {
    rmSync(this.paths.exitCode, { force: true });
    await rm(this.paths.work, { recursive: true, force: true, maxRetries: 5 });
  }
}
