import { decide } from "../../../functions/autoscaler/decide.ts";
import type { Load, Reason, ScalerState } from "../../../functions/autoscaler/views.ts";
import { scalingOf, type ScalingSettings } from "../../../sdk/schema/scaling.ts";

/** An endpoint of which a test says the load; time, counters and state go on by themselves. */
export class Replay {
  nowMs = 1_000_000;
  desired: number;
  reason: Reason = "steady";
  state: ScalerState | undefined;
  config: ScalingSettings;
  #load: Load = { inFlight: 0, queued: 0, lastAcceptedAtMs: undefined, accepted: 0, demandMs: 0, busyMs: 0 };

  constructor(config: ScalingSettings, desired: number) {
    this.config = config;
    this.desired = desired;
    this.look();
  }

  /** Requests that come now: they wait, or are taken at once. */
  accept(queued: number, inFlight = 0): this {
    const { accepted } = this.#load;
    this.#load = {
      ...this.#load,
      queued: this.#load.queued + queued,
      inFlight: this.#load.inFlight + inFlight,
      accepted: accepted + queued + inFlight,
      lastAcceptedAtMs: this.nowMs,
    };
    return this;
  }

  /** From now on so many wait and so many are worked on; what is missing has ended. */
  set(queued: number, inFlight: number): this {
    this.#load = { ...this.#load, queued, inFlight };
    return this;
  }

  look(load: Load = this.#load): this {
    return this.#decide(load);
  }

  /** As `look`, when nobody can tell the load. */
  lookBlind(): this {
    return this.#decide(undefined);
  }

  #decide(load: Load | undefined): this {
    const { desired } = this;
    const decision = decide(this.state, { desired, load }, this.nowMs, scalingOf(this.config));
    this.state = decision.nextState;
    this.desired = decision.desired;
    this.reason = decision.reason;
    return this;
  }

  /** Time goes on with the load as it is, seen every two seconds. */
  pass(seconds: number): this {
    for (let second = 0; second < seconds; second += 2) {
      this.tick(2_000);
      this.look();
    }
    return this;
  }

  /** Time goes on, and nobody looks. */
  tick(ms: number): this {
    const { inFlight, queued, demandMs, busyMs } = this.#load;
    this.#load = {
      ...this.#load,
      demandMs: demandMs + (inFlight + queued) * Math.max(0, ms),
      busyMs: busyMs + inFlight * Math.max(0, ms),
    };
    this.nowMs += ms;
    return this;
  }
}
