import { Fault } from "./fault.ts";

/** What happens to a call instead of, or after, its effect. */
export type CallFailure =
  /** The service's own error, e.g. `ThrottlingException`; 5xx ones take a `status`. Nothing happens. */
  | { error: string; message?: string; status?: number }
  /** Nothing happens and the connection breaks. */
  | { unreachable: true }
  /** The effect happens, the answer does not arrive. */
  | { lost: true }
  /** RunTask only: the answer holds these failures and no task. */
  | { failures: { reason: string; arn?: string; detail?: string }[] };

export interface HowOften {
  /** Fails the next `count` calls. */
  count?: number;
  /** Fails each call with this probability, from a generator with `seed`. */
  probability?: number;
  seed?: number;
}

interface Rule extends HowOften {
  operation: string;
  failure: CallFailure;
  random: () => number;
}

/** Which calls fail, and how. `operation` is a name such as `RunTask`, `ecs.*` or `*`. */
export class CallFailures {
  #rules: Rule[] = [];
  #down = false;

  failNext(operation: string, failure: CallFailure): void {
    this.fail(operation, failure, { count: 1 });
  }

  fail(operation: string, failure: CallFailure, often: HowOften = { count: 1 }): void {
    this.#rules.push({ ...often, operation, failure, random: generator(often.seed ?? 1) });
  }

  /** Everything is unreachable until it is called with false. */
  down(isDown: boolean): void {
    this.#down = isDown;
  }

  get isDown(): boolean {
    return this.#down;
  }

  clear(): void {
    this.#rules = [];
    this.#down = false;
  }

  /** The failure for this call, which uses up a count. */
  take(service: string, operation: string): CallFailure | undefined {
    if (this.#down) return { unreachable: true };
    for (const rule of this.#rules) {
      if (![operation, `${service}.${operation}`, `${service}.*`, "*"].includes(rule.operation)) continue;
      if (rule.probability !== undefined && rule.random() >= rule.probability) continue;
      if (rule.count !== undefined) {
        rule.count -= 1;
        if (rule.count <= 0) this.#rules = this.#rules.filter((each) => each !== rule);
      }
      return rule.failure;
    }
    return undefined;
  }
}

export const faultOf = ({ error, message, status }: Extract<CallFailure, { error: string }>): Fault =>
  new Fault(error, message ?? `${error} was injected`, status ?? 400);

/** mulberry32: small, seeded, good enough to choose failures. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
