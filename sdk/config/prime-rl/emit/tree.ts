import { isSame } from "../rules/scope.ts";
import type { Path, Report } from "../types.ts";
import { isTable } from "../walk.ts";

export type Table = Record<string, unknown>;

const steps = (path: string): string[] => (path === "" ? [] : path.split("."));

/** A tree that is turned into another one: settings are taken out of the old and put into the new. */
export class Conversion {
  readonly from: Table;
  readonly to: Table = {};
  readonly dropped: Report[] = [];
  /** Where `from` stands in the whole, for what is dropped. */
  readonly base: Path;

  constructor(from: Table, base: Path = []) {
    this.from = structuredClone(from);
    this.base = base;
  }

  /** Removes and returns what is at `path`; undefined where nothing is. */
  take(path: string): unknown {
    const parts = steps(path);
    const holder = parts.slice(0, -1).reduce<unknown>(below, this.from);
    const last = parts.at(-1);
    if (!isTable(holder) || last === undefined || !Object.hasOwn(holder, last)) return undefined;
    const value = holder[last];
    delete holder[last];
    return value;
  }

  /** What is at `path`, left there. */
  peek(path: string): unknown {
    return steps(path).reduce<unknown>(below, this.from);
  }

  /** The table at `path`, taken out; undefined where there is none. */
  takeTable(path: string): Table | undefined {
    const value = this.take(path);
    return isTable(value) ? value : undefined;
  }

  put(path: string, value: unknown): void {
    if (value === undefined) return;
    const parts = steps(path);
    let holder = this.to;
    for (const step of parts.slice(0, -1)) {
      if (!isTable(holder[step])) holder[step] = {};
      holder = holder[step] as Table;
    }
    holder[String(parts.at(-1))] = value;
  }

  move(from: string, to: string, change: (value: unknown) => unknown = (value) => value): void {
    const value = this.take(from);
    if (value !== undefined) this.put(to, change(value));
  }

  /** Leaves a setting behind. Only what differs from `standard`, or from null, is worth a word. */
  drop(path: string, why: string, standard: unknown = null): void {
    const value = this.take(path);
    if (value === undefined || value === null || isSame(value, standard)) return;
    this.lose(path, why);
  }

  lose(path: string, why: string): void {
    const name = path.split(".");
    this.dropped.push({
      path: [...this.base, ...name],
      code: "setting_dropped",
      severity: "warning",
      message: `${[...this.base, ...name].join(".")} is left out: ${why}`,
      hint: "",
    });
  }

  /** What nobody took goes over as it is, beside what was put there. */
  keepRest(): void {
    merge(this.to, this.from);
  }
}

function below(held: unknown, step: string): unknown {
  return isTable(held) ? held[step] : undefined;
}

function merge(onto: Table, rest: Table): void {
  for (const [key, value] of Object.entries(rest)) {
    const own = onto[key];
    if (isTable(own) && isTable(value)) merge(own, value);
    else if (own === undefined) onto[key] = value;
  }
}
