import type { FakeAwsClock } from "./clock.ts";
import { generator } from "./control.ts";
import { accountId, region, type FakeIds } from "./ids.ts";

/** As EventBridge hands it to a target. */
export interface AwsEvent {
  version: "0";
  id: string;
  "detail-type": string;
  source: string;
  account: string;
  time: string;
  region: string;
  resources: string[];
  detail: Record<string, unknown>;
}

export type EventListener = (event: AwsEvent) => void | Promise<void>;

/** EventBridge delivers at least once and in no order; at its worst it does not deliver. Each is a probability. */
export interface EventFaults {
  lose?: number;
  duplicate?: number;
  /** Holds an event back by up to `delayMs`, so that later ones overtake it. */
  reorder?: number;
  delayMs?: number;
  seed?: number;
}

/** The event bus: publishes to the listener, a turn of virtual time later. */
export class FakeEvents {
  /** Everything published, delivered or not. */
  readonly published: AwsEvent[] = [];
  readonly delivered: AwsEvent[] = [];
  readonly #clock: FakeAwsClock;
  readonly #ids: FakeIds;
  readonly #listeners: EventListener[];
  readonly #latencyMs: number;
  #faults: EventFaults = {};
  #random = generator(1);
  #held: AwsEvent[] | undefined;

  constructor(clock: FakeAwsClock, ids: FakeIds, latencyMs: number, listener?: EventListener) {
    this.#clock = clock;
    this.#ids = ids;
    this.#latencyMs = latencyMs;
    this.#listeners = listener === undefined ? [] : [listener];
  }

  subscribe(listener: EventListener): void {
    this.#listeners.push(listener);
  }

  faults(faults: EventFaults): void {
    this.#faults = faults;
    this.#random = generator(faults.seed ?? 1);
  }

  /** While everything is down events wait, and arrive afterwards. */
  hold(isDown: boolean): void {
    const held = this.#held;
    this.#held = isDown ? (held ?? []) : undefined;
    if (!isDown) for (const event of held ?? []) this.#deliver(event);
  }

  publish(source: string, detailType: string, resources: string[], detail: Record<string, unknown>): string {
    const event: AwsEvent = {
      version: "0",
      id: this.#ids.uuid(),
      "detail-type": detailType,
      source,
      account: accountId,
      time: new Date(this.#clock.now()).toISOString(),
      region,
      resources,
      // What it describes changes later: an event is what was true when it was written.
      detail: JSON.parse(JSON.stringify(detail)) as Record<string, unknown>,
    };
    this.published.push(event);
    const { lose = 0, duplicate = 0, reorder = 0, delayMs = 60_000 } = this.#faults;
    if (this.#random() < lose) return event.id;
    const late = (): number => (this.#random() < reorder ? this.#random() * delayMs : 0);
    this.#clock.after(this.#latencyMs + late(), () => this.#deliver(event));
    if (this.#random() < duplicate) this.#clock.after(this.#latencyMs + late(), () => this.#deliver(event));
    return event.id;
  }

  #deliver(event: AwsEvent): void {
    if (this.#held !== undefined) {
      this.#held.push(event);
      return;
    }
    this.delivered.push(event);
    for (const listener of this.#listeners) {
      void Promise.resolve(listener(structuredClone(event))).catch((error: unknown) => {
        process.stderr.write(`fake AWS: an event listener failed: ${String(error)}\n`);
      });
    }
  }
}
