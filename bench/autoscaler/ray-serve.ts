/**
 * Ray Serve's autoscaler, written from what it does: ray-project/ray, python/ray/serve/autoscaling_policy.py
 * at 00590c456b9a. Its defaults, except that target, delay before it scales down and idle timeout are those
 * that every policy has here.
 *
 * @module
 */
import { isIdle, mean } from "./knative.ts";
import type { NewPolicy } from "./policy.ts";

const LOOK_BACK_S = 30;
const METRICS_EVERY_S = 10;
const UP_DELAY_S = 30;

export const rayServe: NewPolicy = ({ min, max, target, idleTimeoutS, scaleDownS }) => {
  const ongoing: number[] = [];
  let total = 0;
  let seconds = 0;
  /** Seconds in a row in which more (above zero) or fewer (below) replicas were wanted. */
  let counter = 0;

  return {
    step(observation) {
      const { desired, ready, load } = observation;
      if (load !== undefined) {
        ongoing.push(load.inFlight + load.queued);
        if (ongoing.length > LOOK_BACK_S) ongoing.shift();
        // Replicas and handles report their averages from time to time.
        if (seconds++ % METRICS_EVERY_S === 0) total = mean(ongoing);
      }
      if (isIdle(observation, idleTimeoutS)) return min;
      if (ready === 0)
        return Math.max(load !== undefined && load.inFlight + load.queued > 0 ? 1 : 0, desired);
      const want = Math.min(max, Math.max(min, 1, Math.ceil(total / target)));
      if (want > desired) {
        counter = Math.max(0, counter) + 1;
        if (counter <= UP_DELAY_S) return desired;
      } else if (want < desired) {
        counter = Math.min(0, counter) - 1;
        if (-counter <= scaleDownS) return desired;
      }
      counter = 0;
      return want;
    },
  };
};
