import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { Clock, Log } from "../../ports/clock.ts";
import type { ContainerReason, ContainerSpec, ContainerState } from "../../ports/containers.ts";
import type { AwsApis } from "./apis.ts";
import { isRecent } from "../recent.ts";
import { isForNow } from "./call-errors.ts";
import { lastLines } from "./job-log.ts";
import { checkJobId } from "./names.ts";
import { chosen, type Platform } from "./platform.ts";
import { notStartedReason, STOPPED, tellsOfBrokenGpu } from "./reasons.ts";
import { Sightings, type View } from "./sightings.ts";

interface PlatformOptions {
  apis: AwsApis;
  clock: Clock;
  log: Log;
  logGroup: string;
  /** Applied to every log line that leaves. */
  redact?: (text: string) => string;
  /** Between two looks at something that is to end. Default 2000. */
  pollMs?: number;
  /** What was seen this long ago is not asked for again. Default 1000. */
  freshMs?: number;
  /** Told of a job that changed. */
  changed: (jobId: string) => void;
}

const TAIL_LINES = 200;
const MAX_TAILS = 500;
/** A job that was refused waits this long; then the control plane launches it again, with a new token. */
const REFUSED_MS = 30_000;
const START_TRIES = 3;
/** A started task is in the lists after about this long. */
const VISIBLE_AFTER_MS = 1_000;
/** What was started longer ago and is not found has been forgotten by the service. */
const TOLD_OF_AFTER_MS = 60_000;

/** What is the same for tasks of ECS and jobs of Batch: who lost an answer looks before it starts another. */
export class PlatformContainers<V extends View> {
  readonly #platform: Platform<V>;
  readonly #options: PlatformOptions;
  readonly #sightings: Sightings<V>;
  readonly #launching = new Map<string, Promise<void>>();
  readonly #refused = new Map<string, { atMs: number; why: string; reason: ContainerReason }>();
  readonly #tails = new Map<string, string[]>();
  readonly #brokenInstances = new Set<string>();
  readonly #watchers = new Set<() => void>();
  #listed: { atMs: number; done: Promise<void> } | undefined;

  constructor(platform: Platform<V>, options: PlatformOptions) {
    this.#platform = platform;
    this.#options = options;
    this.#sightings = new Sightings<V>(
      (known, seen) => platform.newer(known, seen),
      (view) => platform.isOver(view),
    );
  }

  /** Container instances whose GPUs are broken, by what their last containers wrote. Each is told once. */
  takeBrokenInstances(): string[] {
    const all = [...this.#brokenInstances];
    this.#brokenInstances.clear();
    return all;
  }

  async launch(spec: ContainerSpec): Promise<void> {
    const { jobId } = spec;
    checkJobId(jobId);
    const running = this.#launching.get(jobId);
    if (running !== undefined) return await running;
    const launching = this.#launch(spec)
      .catch((error: unknown) => this.#later(jobId, error))
      .finally(() => this.#launching.delete(jobId));
    this.#launching.set(jobId, launching);
    await launching;
  }

  async #launch(spec: ContainerSpec): Promise<void> {
    const { jobId } = spec;
    if (await this.#find(jobId, spec)) return;
    const nowMs = this.#now;
    for (let tries = 1; ; tries++) {
      try {
        const started = await this.#platform.start(spec, nowMs);
        this.#refused.delete(jobId);
        if ("view" in started) this.#note(started.view);
        if ("waits" in started)
          this.#waits(jobId, started.waits, notStartedReason(started.waits) ?? "capacity");
        this.#options.changed(jobId);
        return;
      } catch (error) {
        if (SpotterError.is(error) || tries >= START_TRIES) throw error;
        this.#options.log.warn("the answer to a launch was lost", { jobId, error: String(error) });
      }
      // Nobody knows whether it was started: another one only if none is to be seen.
      await this.#sleep(VISIBLE_AFTER_MS);
      if (await this.#find(jobId, spec)) return this.#options.changed(jobId);
    }
  }

  #waits(jobId: string, why: string, reason: ContainerReason): void {
    this.#refused.set(jobId, { atMs: this.#now, why, reason });
  }

  /** A storm of throttling, or a service that is away, is no fault of the job: it waits, and is launched again. */
  #later(jobId: string, error: unknown): void {
    if (SpotterError.is(error) || !isForNow(error)) throw error;
    this.#options.log.warn("a launch has to wait for AWS", { jobId, error: String(error) });
    this.#waits(jobId, String(error), "capacity");
    this.#options.changed(jobId);
  }

  /** Whether anything was ever started for this job, as far as the service remembers. */
  async #find(jobId: string, spec?: ContainerSpec): Promise<boolean> {
    const isKnown = () => this.#sightings.ofJob(jobId).length > 0;
    if (isKnown()) return true;
    for (const view of await this.#platform.findByName(jobId, spec)) this.#note(view);
    if (!isKnown() && !this.#platform.findsEndedByName) await this.#refresh();
    return isKnown();
  }

  async describe(jobId: string): Promise<ContainerState> {
    const view = await this.#current(jobId);
    if (view !== undefined) return await this.#platform.state(view, await this.#tailOfEnded(view));
    const refused = this.#refused.get(jobId);
    if (refused === undefined || !isRecent(refused.atMs, this.#now, REFUSED_MS)) return { state: "unknown" };
    return { state: "waiting", reason: refused.reason, detail: refused.why };
  }

  async #current(jobId: string): Promise<V | undefined> {
    const known = this.#sightings.ofJob(jobId);
    if (known.length === 0) await this.#find(jobId);
    else await this.#look(known.map(({ id }) => id).filter((id) => !this.#isFresh(id)));
    return chosen(this.#sightings.ofJob(jobId), (view) => this.#platform.isOver(view));
  }

  /** Everything that waits or runs, doubles too. */
  async list(): Promise<V[]> {
    await this.#refresh();
    return this.#sightings.living();
  }

  /** Lists and looks at everything, once for all who ask at about the same time. */
  async #refresh(): Promise<void> {
    const nowMs = this.#now;
    if (this.#listed === undefined || !isRecent(this.#listed.atMs, nowMs, this.#freshMs)) {
      const done = this.#listAll();
      this.#listed = { atMs: nowMs, done };
      done.catch(() => (this.#listed = undefined));
    }
    await this.#listed?.done;
  }

  async #listAll(): Promise<void> {
    const views = await this.#platform.listAll((id) => this.#sightings.isOver(id));
    const listed = new Set(views.map(({ id }) => id));
    for (const view of views) this.#note(view);
    // What was to be seen and is listed no more has ended, or the service has forgotten it.
    const living = this.#sightings.living().map(({ id }) => id);
    await this.#look(living.filter((id) => !listed.has(id)));
  }

  async #look(ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    const found = await this.#platform.look(ids);
    for (const view of found) this.#note(view);
    const exist = new Set(found.map(({ id }) => id));
    // A young one may not be told of yet.
    const isYoung = (id: string) =>
      this.#now - (this.#sightings.get(id)?.createdAtMs ?? 0) < TOLD_OF_AFTER_MS;
    for (const id of ids) if (!exist.has(id) && !isYoung(id)) this.#sightings.forget(id);
  }

  async stop(jobId: string): Promise<void> {
    this.#refused.delete(jobId);
    await this.#launching.get(jobId)?.catch(() => undefined);
    for (const view of await this.#platform.findByName(jobId)) this.#note(view);
    const ids = this.#sightings.ofJob(jobId).map(({ id }) => id);
    await this.#stopAll(ids, STOPPED.asked);
    if (ids.length > 0) this.#options.changed(jobId);
  }

  /** Ends one of several doubles, or what nobody knows. Does not wait for it. */
  async end(id: string, words: string): Promise<void> {
    if (!this.#sightings.isOver(id)) await this.#platform.end(id, words);
  }

  /** Tells the containers on an instance that is taken back to save what they have. */
  async endOnInstance(instanceArn: string): Promise<void> {
    for (const view of await this.list())
      if (view.instanceArn === instanceArn) await this.end(view.id, STOPPED.spot);
  }

  async #stopAll(ids: string[], words: string): Promise<void> {
    const living = () =>
      ids.filter((id) => this.#sightings.get(id) !== undefined && !this.#sightings.isOver(id));
    await Promise.all(living().map((id) => this.#platform.end(id, words)));
    for (;;) {
      await this.#look(living());
      if (living().length === 0) return;
      await this.#sleep(this.#options.pollMs ?? 2_000);
    }
  }

  async logs(jobId: string, lines: number): Promise<string[]> {
    const view = await this.#current(jobId);
    return view === undefined ? [] : await this.#lines(view, lines);
  }

  forget(jobId: string): void {
    const views = this.#sightings.ofJob(jobId);
    if (views.some((view) => !this.#platform.isOver(view))) return;
    for (const { id } of views) this.#tails.delete(id);
    this.#refused.delete(jobId);
  }

  /** An event told of this one: it is news if nothing newer is known. */
  heard(view: V): void {
    this.#note(view);
  }

  /** An event named this one without saying whose it is. */
  async heardOf(id: string): Promise<void> {
    if (!this.#sightings.isOver(id)) await this.#look([id]);
  }

  seen(id: string): V | undefined {
    return this.#sightings.get(id);
  }

  /** Whoever finds out, everybody is told. */
  #note(view: V): void {
    if (!this.#sightings.note(view, this.#now)) return;
    for (const watcher of [...this.#watchers]) watcher();
    this.#options.changed(view.jobId);
  }

  async #tailOfEnded(view: V): Promise<string[]> {
    if (!this.#platform.isOver(view)) return [];
    const known = this.#tails.get(view.id);
    if (known !== undefined) return known;
    // How it ended is worth knowing without its last words.
    const tail = await this.#lines(view, TAIL_LINES).catch((error: unknown): string[] => {
      this.#options.log.warn("a log could not be read", { jobId: view.jobId, error: String(error) });
      return [];
    });
    if (tellsOfBrokenGpu(tail) && view.instanceArn !== undefined) this.#brokenInstances.add(view.instanceArn);
    // The last lines come later than the end: an empty tail may still fill.
    if (tail.length > 0) this.#tails.set(view.id, tail);
    if (this.#tails.size > MAX_TAILS) this.#tails.delete([...this.#tails.keys()][0] ?? "");
    return tail;
  }

  async #lines(view: V, lines: number): Promise<string[]> {
    const { apis, logGroup, redact = (text: string) => text } = this.#options;
    const stream = this.#platform.logStream(view);
    if (stream === undefined) return [];
    return (await lastLines(await apis.logs(), logGroup, stream, lines)).map(redact);
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  get #freshMs(): number {
    return this.#options.freshMs ?? 1_000;
  }

  #isFresh(id: string): boolean {
    return this.#sightings.isFresh(id, this.#now, this.#freshMs);
  }

  /** Until the time is over, or an event comes. */
  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#watchers.delete(done);
        cancel();
        resolve();
      };
      const cancel = this.#options.clock.after(ms, done);
      this.#watchers.add(done);
    });
  }
}
