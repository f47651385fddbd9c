import { readdirSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Clock, Log } from "../ports/clock.ts";
import type {
  ContainerHandle,
  ContainerKind,
  Containers,
  ContainerSpec,
  ContainerState,
} from "../ports/containers.ts";
import { diskError } from "./disk-error.ts";
import type { Container, ContainerEnd, ContainerEvents } from "./local-containers/container.ts";
import { failureOf } from "./local-containers/failure-of.ts";
import { boundLog } from "./local-containers/log-file.ts";
import { Listeners } from "./local-containers/listeners.ts";
import type { Platforms } from "./local-containers/platforms.ts";
import {
  intentOf,
  loadRecords,
  pathsOf,
  removeFiles,
  type ContainerRecord,
} from "./local-containers/record.ts";

export interface LocalContainersOptions {
  /** Folder for records, logs and work folders. One process at a time uses it (see lockState). */
  home: string;
  clock: Pick<Clock, "now">;
  log: Log;
  /** Trainings at a time, and conversions before one; further ones wait. Default 1. */
  maxTrains?: number;
  /** Applied to every log line that leaves. */
  redact?: (text: string) => string;
  /** A container's log is cut when it is larger. Default 10 MB. */
  maxLogBytes?: number;
  /** Time for containers to end by themselves in `close`. Default 5000. */
  closeGraceMs?: number;
}

/** Ended containers that are remembered, with their logs. */
const MAX_ENDED = 200;
const POLL_STOPPING_MS = 50;
const POLL_ADOPTED_MS = 500;
const CHECK_LOGS_MS = 2000;

/**
 * The containers of one machine, whatever runs them: what is wanted is written down before it is done, and a budget
 * says how many trainings run at a time.
 */
export class LocalContainers implements Containers {
  readonly #options: LocalContainersOptions;
  readonly #platforms: Platforms;
  readonly #containers = new Map<string, Container>();
  readonly #listeners = new Listeners();
  readonly #redact: (text: string) => string;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #closing: Promise<void> | undefined;

  /** Takes over what an earlier process left running or waiting in this home. */
  static async open(options: LocalContainersOptions, platforms: Platforms): Promise<LocalContainers> {
    const containers = new LocalContainers(options, platforms);
    await containers.#adoptAll();
    return containers;
  }

  private constructor(options: LocalContainersOptions, platforms: Platforms) {
    this.#options = options;
    this.#platforms = platforms;
    this.#redact = options.redact ?? ((text) => text);
  }

  async launch(spec: ContainerSpec): Promise<ContainerHandle> {
    const { jobId, environment } = spec;
    if (this.#closed) throw closed();
    const known = this.#containers.get(jobId);
    if (known !== undefined) {
      known.renew({ ...environment });
      return { jobId };
    }
    const paths = pathsOf(this.#options.home, jobId);
    const record = intentOf(spec, this.#platforms.platformOf(spec), this.#options.clock.now());
    const container = this.#platforms.create(paths, record);
    try {
      container.save(record);
    } catch (error) {
      throw diskError(error, paths.record);
    }
    this.#containers.set(jobId, container);
    this.#listeners.tell(jobId);
    await this.#startWaiting();
    return { jobId };
  }

  async describe(jobId: string): Promise<ContainerState> {
    return (await this.#containers.get(jobId)?.describe(this.#redact)) ?? { state: "unknown" };
  }

  async stop(jobId: string, graceMs: number): Promise<void> {
    const container = this.#containers.get(jobId);
    if (container === undefined) return;
    if (container.record.state === "exited") return await container.gone;
    if (this.#closed && !container.asked) throw closed();
    await this.#stop(container, graceMs);
  }

  async #stop(container: Container, graceMs: number): Promise<void> {
    container.asked = true;
    if (container.waiting) return await this.#finish(container, { exitCode: null });
    container.signal(graceMs > 0 ? "SIGTERM" : "SIGKILL");
    const kill = setTimeout(() => container.signal("SIGKILL"), graceMs);
    this.#schedule();
    await container.gone;
    clearTimeout(kill);
  }

  async list(): Promise<{ jobId: string; kind: ContainerKind }[]> {
    return this.#living().map(({ record }) => ({ jobId: record.jobId, kind: record.kind }));
  }

  onChange(listener: (jobId: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  async logs(jobId: string, lines: number): Promise<string[]> {
    const tail = (await this.#containers.get(jobId)?.tail(lines)) ?? [];
    return tail.map(this.#redact);
  }

  async forget(jobId: string): Promise<void> {
    const container = this.#containers.get(jobId);
    if (container?.record.state !== "exited") return;
    removeFiles(container.paths);
    this.#containers.delete(jobId);
  }

  close(options: { leaveRunning?: boolean } = {}): Promise<void> {
    this.#closing ??= this.#close(options.leaveRunning ?? false);
    return this.#closing;
  }

  async #close(leaveRunning: boolean): Promise<void> {
    // Those that wait have no process to end: the next daemon starts them.
    const active = this.#living().filter((container) => !container.waiting);
    const graceMs = this.#options.closeGraceMs ?? 5000;
    this.#closed = true;
    if (leaveRunning) for (const container of active) container.leave();
    else await Promise.all(active.map((container) => this.#stop(container, graceMs)));
    // Also those that had ended just before.
    const ended = [...this.#containers.values()].filter(({ record }) => record.state === "exited");
    await Promise.all(ended.map(({ gone }) => gone));
    this.#listeners.clear();
    clearTimeout(this.#timer);
  }

  #living(): Container[] {
    return [...this.#containers.values()].filter(({ record }) => record.state !== "exited");
  }

  async #adoptAll(): Promise<void> {
    const { home } = this.#options;
    let known: ContainerRecord[];
    try {
      await mkdir(join(home, "work"), { recursive: true, mode: 0o700 });
      known = loadRecords(home);
    } catch (error) {
      throw diskError(error, home);
    }
    const strays = (await this.#platforms.strays?.(known)) ?? [];
    for (const record of [...known, ...strays]) {
      const container = this.#platforms.create(pathsOf(home, record.jobId), record);
      this.#containers.set(record.jobId, container);
    }
    for (const container of this.#living()) {
      const found = await container.adopt(this.#eventsOf(container));
      const isLost = !found && container.record.state === "running";
      if (isLost) await this.#finish(container, { exitCode: null });
    }
    for (const name of readdirSync(join(home, "work"))) {
      const owner = this.#containers.get(name);
      if (owner?.active !== true) rmSync(join(home, "work", name), { recursive: true, force: true });
    }
    this.#forgetOldest();
    await this.#startWaiting();
    this.#schedule();
  }

  /** Starts, in the order of their launch, those that the budget has room for. */
  async #startWaiting(): Promise<void> {
    const waiting = this.#living()
      .filter((container) => container.waiting)
      .sort((a, b) => createdAt(a) - createdAt(b));
    await Promise.all(
      waiting.map(async (container) => {
        const room = !container.isBudgeted || this.#activeTrains() < (this.#options.maxTrains ?? 1);
        if (room && !this.#closed) await this.#start(container);
      }),
    );
  }

  #activeTrains(): number {
    return this.#living().filter((container) => container.active && container.isBudgeted).length;
  }

  async #start(container: Container): Promise<void> {
    const { jobId } = container;
    try {
      await container.start(this.#eventsOf(container));
    } catch (error) {
      this.#options.log.error("A container could not be started.", { jobId, error });
      container.signal("SIGKILL");
      await this.#finish(container, { exitCode: null, ...failureOf(error) });
    }
    this.#listeners.tell(jobId);
    this.#schedule();
  }

  #eventsOf(container: Container): ContainerEvents {
    return {
      changed: () => this.#listeners.tell(container.jobId),
      ended: (end) => void this.#finish(container, end),
    };
  }

  async #finish(container: Container, end: ContainerEnd): Promise<void> {
    // After `close` the records belong to the next daemon.
    const leftToNext = this.#closed && !container.asked;
    if (leftToNext || container.record.state === "exited") return;
    await this.#logged("The end of a container could not be written down.", container, async () => {
      await container.finish(this.#options.clock.now(), end);
      this.#forgetOldest();
    });
    this.#listeners.tell(container.jobId);
    if (!this.#closed) await this.#startWaiting();
  }

  #forgetOldest(): void {
    const ended = [...this.#containers.values()].filter(({ record }) => record.state === "exited");
    ended.sort((a, b) => endedAt(b) - endedAt(a));
    for (const container of ended.slice(MAX_ENDED)) {
      removeFiles(container.paths);
      this.#containers.delete(container.jobId);
    }
  }

  /** One timer for all: adopted processes do not tell that they end, and logs must not grow for ever. */
  #schedule(): void {
    clearTimeout(this.#timer);
    const active = this.#living().filter((container) => container.active);
    const polled = active.filter((container) => container.isPolled);
    if (active.length === 0 || (this.#closed && !polled.some(({ asked }) => asked))) return;
    const stopping = polled.some(({ asked }) => asked);
    const delayMs = stopping ? POLL_STOPPING_MS : polled.length > 0 ? POLL_ADOPTED_MS : CHECK_LOGS_MS;
    this.#timer = setTimeout(() => void this.#tick(), delayMs);
    if (!stopping) this.#timer.unref();
  }

  async #tick(): Promise<void> {
    const maxLogBytes = this.#options.maxLogBytes ?? 10_000_000;
    for (const container of this.#living()) {
      await this.#logged("A container could not be looked after.", container, async () => {
        if (container.active) boundLog(container.paths.log, maxLogBytes);
      });
      if (container.isPolled && !(await container.alive())) await this.#finish(container, { exitCode: null });
    }
    this.#schedule();
  }

  /** Nobody awaits these: what fails, such as a full disk, is told in the log and must not end the daemon. */
  async #logged(message: string, container: Container, body: () => Promise<void>): Promise<void> {
    try {
      await body();
    } catch (error) {
      this.#options.log.error(message, { jobId: container.jobId, error });
    }
  }
}

function createdAt({ record }: Container): number {
  return record.state === "intent" ? record.createdAtMs : 0;
}

function endedAt({ record }: Container): number {
  return record.state === "exited" ? record.endedAtMs : 0;
}

/** A daemon that ends takes nothing new; the next one does. */
function closed(): SpotterError {
  return new SpotterError("capacity", "This daemon is ending; its containers belong to the next one.");
}
