import type { Layer } from "./merge.ts";
import { allFrom, graft, originIn, prune, type Origins } from "./provenance.ts";
import type { Draft, Origin, Path, Report } from "./types.ts";
import { isTable } from "./walk.ts";

type Holder = Record<string | number, unknown>;

/** A tree that rules read and change. It owns its values: what it is made of stays as it was. */
export class DraftTree implements Draft {
  readonly #report: (report: Report, origins: Origins) => void;
  readonly #origins: Origins;
  #value: unknown;
  #isChanged = false;

  constructor({ value, origins }: Layer, report: (report: Report, origins: Origins) => void) {
    this.#value = copied(value);
    this.#origins = cloned(origins);
    this.#report = report;
  }

  /** What is there now. */
  get layer(): Layer {
    return { value: this.#value, origins: this.#origins };
  }

  get isChanged(): boolean {
    return this.#isChanged;
  }

  get(path: Path): unknown {
    return path.reduce<unknown>((held, step) => (isHolder(held) ? held[step] : undefined), this.#value);
  }

  has(path: Path): boolean {
    const parent = this.get(path.slice(0, -1));
    const last = path.at(-1);
    return last === undefined ? this.#value !== undefined : isHolder(parent) && Object.hasOwn(parent, last);
  }

  set(path: Path, value: unknown, origin: Origin): void {
    this.#isChanged = true;
    const own = copied(value);
    const last = path.at(-1);
    if (last === undefined) this.#value = own;
    else this.#holderAt(path)[last] = own;
    graft(this.#origins, path, allFrom(own, origin));
  }

  remove(path: Path): void {
    const parent = this.get(path.slice(0, -1));
    const last = path.at(-1);
    if (last === undefined || !isHolder(parent) || !Object.hasOwn(parent, last)) return;
    this.#isChanged = true;
    if (Array.isArray(parent)) throw new Error("Set a list whole instead of removing from it.");
    delete parent[last];
    prune(this.#origins, path);
  }

  originOf(path: Path): Origin | undefined {
    return originIn(this.#origins, path);
  }

  report(report: Report): void {
    this.#report(report, this.#origins);
  }

  /** What holds the last step of `path`; tables and lists on the way are made where they are missing. */
  #holderAt(path: Path): Holder {
    if (!isHolder(this.#value)) this.#value = {};
    let held = this.#value as Holder;
    for (const [index, step] of path.slice(0, -1).entries()) {
      if (!isHolder(held[step])) held[step] = typeof path[index + 1] === "number" ? [] : {};
      held = held[step] as Holder;
    }
    return held;
  }
}

function isHolder(value: unknown): value is Holder {
  return Array.isArray(value) || isTable(value);
}

/** Trees are plain: tables, lists and values. */
function copied<T>(value: T): T;
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => copied(item));
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copied(item)]));
}

function cloned({ origin, below }: Origins): Origins {
  return {
    origin,
    below: below && new Map([...below].map(([step, inner]) => [step, cloned(inner)])),
  };
}
