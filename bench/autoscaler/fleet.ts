/**
 * Replicas and the requests on them. A request goes to the least loaded replica that has a free slot, which
 * buckets of replicas by load find without a search: fleets of 10,000 are simulated in seconds.
 *
 * @module
 */
export type ReplicaPhase = "waiting" | "starting" | "ready" | "draining" | "gone";

interface Replica {
  phase: ReplicaPhase;
  load: number;
  readyAtS: number;
}

/** Slots that end more seconds ahead than this wait in the last bucket and are looked at again. */
const WHEEL_S = 4_096;

export class Fleet {
  readonly #slots: number;
  readonly #replicas: Replica[] = [];
  /** Ready replicas by their load. */
  readonly #byLoad: number[][];
  readonly #position: number[] = [];
  readonly #wheel: number[][] = Array.from({ length: WHEEL_S }, () => []);
  readonly #later: { atS: number; replica: number }[] = [];
  #pending: number[] = [];
  ready = 0;
  draining = 0;
  inFlight = 0;
  /** Requests that replicas have finished. */
  finished = 0;
  /** Requests on replicas that died. */
  cut = 0;

  constructor(slots: number) {
    this.#slots = slots;
    this.#byLoad = Array.from({ length: slots + 1 }, () => []);
  }

  /** Replicas that will be ready: those that start and those that wait for a place. */
  get starting(): number {
    return this.#pending.length;
  }

  /** Replicas that somebody pays for. */
  get paid(): number {
    const waiting = this.#pending.filter((id) => this.#replicas[id]?.phase === "waiting").length;
    return this.ready + this.draining + this.#pending.length - waiting;
  }

  /** One more replica. Without a place it waits for one and costs nothing. */
  launch(nowS: number, coldStartS: number, hasPlace: boolean): void {
    const phase = hasPlace ? "starting" : "waiting";
    this.#pending.push(this.#replicas.length);
    this.#replicas.push({ phase, load: 0, readyAtS: nowS + coldStartS });
  }

  /** Those that waited for a place begin to start. */
  place(nowS: number, coldStartS: number): void {
    for (const id of this.#pending) {
      const replica = this.#replicas[id];
      if (replica?.phase !== "waiting") continue;
      replica.phase = "starting";
      replica.readyAtS = nowS + coldStartS;
    }
  }

  /** Ends the starts whose time has come, well or not. Returns how many failed. */
  arrive(nowS: number, fails: boolean): number {
    let failed = 0;
    this.#pending = this.#pending.filter((id) => {
      const replica = this.#replicas[id];
      if (replica?.phase !== "starting" || replica.readyAtS > nowS) return true;
      if (fails) {
        replica.phase = "gone";
        failed++;
        return false;
      }
      replica.phase = "ready";
      this.ready++;
      this.#enter(id, 0);
      return false;
    });
    return failed;
  }

  /** Ends the requests whose time has come. */
  finish(nowS: number): void {
    const due = this.#wheel[nowS % WHEEL_S] ?? [];
    for (const id of due) this.#end(id);
    due.length = 0;
    if (nowS % WHEEL_S !== 0) return;
    const later = this.#later.splice(0);
    for (const { atS, replica } of later) this.#schedule(nowS, atS, replica);
  }

  /** Puts a request on the least loaded replica; false if all are full. */
  start(nowS: number, seconds: number): boolean {
    for (let load = 0; load < this.#slots; load++) {
      const id = this.#byLoad[load]?.at(-1);
      if (id === undefined) continue;
      this.#leave(id, load);
      this.#enter(id, load + 1);
      this.inFlight++;
      this.#schedule(nowS, nowS + seconds, id);
      return true;
    }
    return false;
  }

  freeSlots(): number {
    return this.#byLoad.reduce((sum, ids, load) => sum + ids.length * (this.#slots - load), 0);
  }

  /** Takes away `count` replicas: those that start, then idle ones, then the least loaded, which finish first. */
  retire(count: number): void {
    for (let left = count; left > 0; left--) {
      const pending = this.#pending.pop();
      if (pending !== undefined) {
        this.#set(pending, "gone");
        continue;
      }
      const load = this.#byLoad.findIndex((ids) => ids.length > 0);
      const id = this.#byLoad[load]?.[0];
      if (id === undefined) return;
      this.#leave(id, load);
      this.ready--;
      this.#set(id, load > 0 ? "draining" : "gone");
      if (load > 0) this.draining++;
    }
  }

  /** The most loaded ready replica dies, and the requests on it get an error. */
  crash(): void {
    const load = this.#byLoad.findLastIndex((ids) => ids.length > 0);
    const id = this.#byLoad[load]?.at(-1);
    if (id === undefined) return;
    this.#leave(id, load);
    this.ready--;
    this.inFlight -= load;
    this.cut += load;
    this.#set(id, "gone");
  }

  #end(id: number): void {
    const replica = this.#replicas[id];
    if (replica === undefined || replica.phase === "gone") return;
    this.inFlight--;
    this.finished++;
    if (replica.phase === "ready") {
      this.#leave(id, replica.load);
      this.#enter(id, replica.load - 1);
    } else if (--replica.load === 0) {
      replica.phase = "gone";
      this.draining--;
    }
  }

  #schedule(nowS: number, atS: number, id: number): void {
    if (atS - nowS < WHEEL_S) this.#wheel[atS % WHEEL_S]?.push(id);
    else this.#later.push({ atS, replica: id });
  }

  #enter(id: number, load: number): void {
    const ids = this.#byLoad[load] ?? [];
    this.#position[id] = ids.length;
    ids.push(id);
    const replica = this.#replicas[id];
    if (replica) replica.load = load;
  }

  #leave(id: number, load: number): void {
    const ids = this.#byLoad[load] ?? [];
    const at = this.#position[id] ?? 0;
    const last = ids.pop();
    if (last === undefined || last === id) return;
    ids[at] = last;
    this.#position[last] = at;
  }

  #set(id: number, phase: ReplicaPhase): void {
    const replica = this.#replicas[id];
    if (replica) replica.phase = phase;
  }
}
