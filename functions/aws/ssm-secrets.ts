import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Secrets } from "../ports/secrets.ts";
import { createRedactor, type Redactor } from "../secrets/redactor.ts";
import { checkSecretName, isSecretName, missingSecret } from "../secrets/secret-name.ts";
import { isRecent } from "./recent.ts";
import { ParameterStore, type ParameterStoreOptions } from "./ssm-secrets/parameter-store.ts";

interface SsmSecretsOptions extends ParameterStoreOptions {
  /** Name of the stack: secrets are parameters below `/<stack>/secrets/`. */
  stack: string;
  clock: Pick<Clock, "now">;
  /** Learns every value, so that logs can hide it. Default: one of its own. */
  redactor?: Redactor;
}

const MAX_BYTES = 8192;
/** Judging a batch asks for its secrets each time, and SSM answers some forty calls a second for the account. */
const FRESH_MS = 5_000;
const LEARN_EVERY_MS = 30_000;

interface Cached {
  atMs: number;
  value: Promise<string | undefined>;
}

/**
 * Secrets as encrypted parameters of SSM, `/<stack>/secrets/NAME`. A value that another process sets counts here
 * within five seconds, one that this process sets at once.
 */
export class SsmSecrets implements Secrets {
  readonly #store: ParameterStore;
  readonly #redactor: Redactor;
  readonly #clock: Pick<Clock, "now">;
  readonly #cached = new Map<string, Cached>();
  /** SSM takes three changes a second: one at a time. */
  #lastChange: Promise<unknown> = Promise.resolve();
  #learned: { atMs: number; done: Promise<void> } | undefined;

  constructor({ stack, clock, redactor, ...options }: SsmSecretsOptions) {
    checkStack(stack);
    this.#store = new ParameterStore(`/${stack}/secrets/`, options);
    this.#redactor = redactor ?? createRedactor();
    this.#clock = clock;
  }

  async set(name: string, value: string): Promise<void> {
    checkSecretName(name);
    checkValue(name, value);
    this.#redactor.add(value);
    await this.#change(name, () => this.#store.put(name, value));
  }

  async list(): Promise<string[]> {
    const names = [...(await this.#store.all(false)).keys()];
    return names.filter(isSecretName).sort();
  }

  async remove(name: string): Promise<void> {
    if (isSecretName(name)) await this.#change(name, () => this.#store.delete(name));
  }

  async resolve(names: readonly string[]): Promise<Record<string, string>> {
    for (const name of names) if (!isSecretName(name)) throw missingSecret(name);
    this.#fetch([...new Set(names)].filter((name) => !this.#isFresh(name)));
    const cached = names.map((name) => [name, this.#cached.get(name)?.value] as const);
    const granted: [string, string][] = [];
    for (const [name, pending] of cached) {
      const value = await pending;
      if (value === undefined) throw missingSecret(name);
      granted.push([name, value]);
    }
    return Object.fromEntries(granted);
  }

  redact(text: string): string {
    return this.#redactor.redact(text);
  }

  /**
   * Reads every value, so that what other processes were told is hidden here too. Call it before text of containers
   * or of user code is kept; it asks SSM at most every 30 seconds.
   */
  async learn(): Promise<void> {
    const atMs = this.#clock.now();
    if (this.#learned === undefined || !isRecent(this.#learned.atMs, atMs, LEARN_EVERY_MS)) {
      const done = this.#learnAll();
      const learned = { atMs, done };
      this.#learned = learned;
      done.catch(() => {
        if (this.#learned === learned) this.#learned = undefined;
      });
    }
    await this.#learned.done;
  }

  /** Ends the connections; the next call makes new ones. */
  async close(): Promise<void> {
    await this.#store.close();
  }

  async #learnAll(): Promise<void> {
    for (const value of (await this.#store.all(true)).values()) this.#redactor.add(value);
  }

  async #change(name: string, make: () => Promise<void>): Promise<void> {
    const turn = this.#lastChange.then(async () => {
      try {
        await make();
      } finally {
        // Also what a reading that began before has put there.
        this.#cached.delete(name);
      }
    });
    this.#lastChange = turn.catch(() => {});
    await turn;
  }

  #isFresh(name: string): boolean {
    const cached = this.#cached.get(name);
    return cached !== undefined && isRecent(cached.atMs, this.#clock.now(), FRESH_MS);
  }

  /** Who asks while an answer is on its way shares it. What is missing, or failed, is asked for again. */
  #fetch(names: readonly string[]): void {
    if (names.length === 0) return;
    const atMs = this.#clock.now();
    const found = this.#store.get(names);
    for (const name of names) {
      const value = found.then((values) => {
        const each = values.get(name);
        if (each !== undefined) this.#redactor.add(each);
        return each;
      });
      const cached = { atMs, value };
      this.#cached.set(name, cached);
      const forget = () => {
        if (this.#cached.get(name) === cached) this.#cached.delete(name);
      };
      value.then((each) => (each === undefined ? forget() : undefined), forget);
    }
  }
}

function checkStack(stack: string): void {
  if (/^(?!aws|ssm)[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/i.test(stack)) return;
  throw new SpotterError("invalid_input", `"${stack}" cannot name a stack that keeps secrets in SSM.`, {
    where: "stack",
    hint: "Use letters, digits, ., - and _, not beginning with aws or ssm.",
  });
}

function checkValue(name: string, value: string): void {
  const bytes = Buffer.byteLength(value);
  if (bytes >= 1 && bytes <= MAX_BYTES) return;
  const message =
    bytes === 0
      ? `${name} has no value.`
      : `The value of ${name} has ${bytes} bytes; SSM keeps at most ${MAX_BYTES}.`;
  throw new SpotterError("invalid_input", message, {
    where: name,
    hint:
      bytes === 0
        ? `To remove it: \`spotter secret remove ${name}\`.`
        : "Keep a key or token here, and files elsewhere.",
  });
}
