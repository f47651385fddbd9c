import { rmSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { Log } from "../../ports/clock.ts";
import type { ForeignEngine } from "../../ports/containers.ts";
import type { ContainerState } from "../../ports/containers.ts";
import { baseOf, Container, type ContainerEnd, type ContainerEvents } from "../local-containers/container.ts";
import { noteInLog, tailLines } from "../local-containers/log-file.ts";
import type { ContainerPaths, ContainerRecord } from "../local-containers/record.ts";
import { DockerError, type DockerCli } from "./docker-cli.ts";
import { endReason } from "./end-reason.ts";
import { withEnvironmentFile } from "./environment-file.ts";
import { isNameTaken, isOver, launchFailure } from "./failures.ts";
import { look } from "./inspect.ts";
import { imageId, overlayImage, removeContainer } from "./overlay-image.ts";
import { nameOf, PLACES, runArgs, type Gpus } from "./run-args.ts";

export interface DockerOptions {
  docker: DockerCli;
  home: string;
  log: Log;
  /** The image of an engine; undefined: there is none. */
  imageOf: (engine: ForeignEngine | undefined) => string | undefined;
  /** What runs in it, and variables for it besides the job's own. */
  agent: { command: readonly string[]; environment: Record<string, string> };
  /** The agent's folder on this machine. */
  agentDir: string;
  /** Default "all". */
  gpus?: Gpus;
}

/** Lines that are kept of what a container wrote, once it is gone. */
const KEPT_LINES = 5000;
const RETRY_MS = 1000;

/** A container of Docker. What is known of it is Docker's to tell: this process may end at any time. */
export class DockerContainer extends Container {
  readonly #options: DockerOptions;
  readonly #name: string;
  /** Ends what is done before the container runs. */
  readonly #preparing = new AbortController();
  /** Ends what only watches. */
  readonly #watching = new AbortController();
  #detail: string | undefined;
  #events: ContainerEvents | undefined;

  constructor(paths: ContainerPaths, record: ContainerRecord, options: DockerOptions) {
    super(paths, record);
    this.#options = options;
    this.#name = nameOf(options.home, record.jobId);
  }

  /** Docker tells when it ends. */
  get isPolled(): boolean {
    return false;
  }

  async alive(): Promise<boolean> {
    return (await look(this.#options.docker, this.#name))?.isRunning === true;
  }

  /** Getting an image takes minutes, so nobody waits for it here. */
  async start(events: ContainerEvents): Promise<void> {
    this.begun = true;
    this.#events = events;
    void this.#run(events);
  }

  async adopt(events: ContainerEvents): Promise<boolean> {
    this.#events = events;
    // The watch sees what has become of it.
    const isThere = this.record.state === "running" || (await this.#isStarted().catch(() => false));
    if (isThere) this.#runs(events);
    return isThere;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.record.state === "running" && this.#events) void this.#kill(signal, this.#events);
    else this.#preparing.abort();
  }

  leave(): void {
    this.#watching.abort();
    this.#preparing.abort();
  }

  protected override beginning(): ContainerState {
    if (this.#detail === undefined) return { state: "starting" };
    return { state: "waiting", reason: "image", detail: this.#detail };
  }

  override async tail(lines: number): Promise<string[]> {
    const kept = tailLines(this.paths.log, lines);
    if (this.record.state !== "running" || lines <= 0) return kept;
    const { docker } = this.#options;
    const said = await docker.lines(["logs", "--tail", String(lines), this.#name]).catch(() => []);
    return [...kept, ...said].slice(-lines);
  }

  get #environmentFile(): string {
    return `${this.paths.record}.env`;
  }

  protected endRest(): void {
    this.#watching.abort();
  }

  protected verdict(end: ContainerEnd) {
    return { exitCode: end.exitCode, reason: endReason(end, this.asked) };
  }

  protected async clear(): Promise<void> {
    rmSync(this.#environmentFile, { force: true });
    await removeContainer(this.#options.docker, this.#name);
  }

  async #run(events: ContainerEvents): Promise<void> {
    const { signal } = this.#preparing;
    let image = "an unknown image";
    try {
      image = this.#image();
      const prepared = await this.#prepared(image, events);
      await this.#launch(prepared, signal);
      this.#runs(events);
    } catch (error) {
      // The next daemon goes on from the intent.
      if (this.#watching.signal.aborted) return;
      if (signal.aborted) return events.ended({ exitCode: null });
      const failure = launchFailure(error, image);
      this.#note(failure.message);
      events.ended({ exitCode: null, failure });
    }
  }

  /** The first line of a failure: what follows it is in the log already. */
  #note(message: string): void {
    try {
      noteInLog(this.paths.log, message.split("\n")[0] ?? "");
    } catch (error) {
      // Nobody awaits this: a full disk must not end the daemon.
      this.#warn("The log of a container cannot be written.", error);
    }
  }

  #image(): string {
    const { engine } = this.record;
    const image = this.#options.imageOf(engine);
    if (image !== undefined) return image;
    throw new SpotterError(
      "engine_missing",
      `Nothing here runs ${engine ?? "the embedded engine"} in Docker.`,
      { hint: "`spotter up --gpu` takes the image of each engine." },
    );
  }

  /** The image itself, or what the run's own commands make of it. */
  async #prepared(image: string, events: ContainerEvents): Promise<string> {
    const { docker, home, gpus = "all" } = this.#options;
    const { signal } = this.#preparing;
    const told = (detail: string | undefined) => {
      this.#detail = detail;
      events.changed();
    };
    let baseId = await imageId(docker, image);
    if (baseId === undefined) {
      noteInLog(this.paths.log, `pulling ${image}`);
      told(`pulling ${image}`);
      await docker.call(["pull", "--quiet", image], { signal });
      baseId = await imageId(docker, image);
    }
    if (baseId === undefined) throw new DockerError("pull", 0, `No such image: ${image}`);
    const commands = this.record.state === "intent" ? (this.record.imageOverlay ?? []) : [];
    if (commands.length === 0) return baseId;
    told("its image overlay");
    const made = await overlayImage({ docker, home, gpus, baseId, commands, log: this.paths.log, signal });
    told(undefined);
    return made;
  }

  async #launch(image: string, signal: AbortSignal): Promise<void> {
    const { record } = this;
    if (record.state !== "intent") return;
    const { docker, home, gpus = "all", agentDir, agent } = this.#options;
    const environment = { ...agent.environment, ...record.environment, SPOTTER_WORK_DIR: PLACES.work };
    const { command } = agent;
    const { folders = [] } = record;
    const call = (environmentFile: string) =>
      docker.call(runArgs({ home, record, image, gpus, agentDir, folders, environmentFile, command }), {
        signal,
      });
    for (;;) {
      // By name, before any start: an answer that was lost must not make a second one.
      if (await this.#isStarted()) return;
      try {
        return void (await withEnvironmentFile(this.#environmentFile, environment, call));
      } catch (error) {
        // The call of a daemon that was killed meanwhile came first.
        if (isNameTaken(error)) continue;
        // Docker makes a container before it starts it.
        if (!this.#watching.signal.aborted) await removeContainer(docker, this.#name);
        throw error;
      }
    }
  }

  /** Whether Docker has it already. One that was made and never started was left by a call that was cut off. */
  async #isStarted(): Promise<boolean> {
    const { docker } = this.#options;
    const seen = await look(docker, this.#name);
    if (seen?.isUnborn === true) await removeContainer(docker, this.#name);
    return seen !== undefined && !seen.isUnborn;
  }

  #runs(events: ContainerEvents): void {
    this.begun = true;
    this.#detail = undefined;
    // A daemon that was killed while it started this left it.
    rmSync(this.#environmentFile, { force: true });
    if (this.record.state !== "running") {
      this.save({ ...baseOf(this.record), state: "running", container: this.#name });
    }
    events.changed();
    void this.#watch(events);
    if (this.#preparing.signal.aborted) void this.#kill("SIGKILL", events);
  }

  /** Waits for its end, also through an absence of Docker's daemon. */
  async #watch(events: ContainerEvents): Promise<void> {
    const { signal } = this.#watching;
    for (let isTold = false; ; isTold = true) {
      try {
        await this.#untilOver(signal);
        return events.ended(await this.#end());
      } catch (error) {
        if (signal.aborted) return;
        if (!isTold) this.#warn("Docker cannot be asked about a container.", error);
        await setTimeout(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async #untilOver(signal: AbortSignal): Promise<void> {
    const { docker } = this.#options;
    try {
      await docker.call(["wait", this.#name], { signal });
    } catch (error) {
      if (signal.aborted || (await look(docker, this.#name))?.isRunning === true) throw error;
    }
  }

  async #end(): Promise<ContainerEnd> {
    const { docker } = this.#options;
    const seen = await look(docker, this.#name);
    if (seen === undefined) return { exitCode: null };
    try {
      await docker.call(["logs", "--tail", String(KEPT_LINES), this.#name], { into: this.paths.log });
    } catch (error) {
      this.#warn("The last lines of a container could not be kept.", error);
    }
    return { exitCode: seen.exitCode, isOutOfMemory: seen.isOutOfMemory };
  }

  async #kill(signal: NodeJS.Signals, events: ContainerEvents): Promise<void> {
    try {
      await this.#options.docker.call(["kill", "--signal", signal, this.#name]);
    } catch (error) {
      if (isOver(error)) return; // By itself, meanwhile: the watch sees it.
      this.#warn("A container could not be told to end.", error);
      // Whoever waits for its end would wait for ever. If it lives, the next daemon finds it by its labels.
      if (signal === "SIGKILL") events.ended({ exitCode: null });
    }
  }

  #warn(message: string, error: unknown): void {
    const words = error instanceof Error ? error.message : String(error);
    this.#options.log.warn(message, { jobId: this.jobId, error: words });
  }
}
