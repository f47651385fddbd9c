import { SpotterError } from "./schema/errors.ts";

/** One row with the user's own columns. Rewards see it as `args.row`. */
export type Row = Record<string, unknown>;

// One for all copies of this module: the packaged SDK holds one, the readers it loads later another.
const shared = globalThis as { [key: symbol]: unknown };
const places = (shared[Symbol.for("spotter.row-places")] ??= new WeakMap()) as WeakMap<object, string>;

/** Remembers where a row was read, for messages. */
export function placeRow(row: Row, where: string): Row {
  places.set(row, where);
  return row;
}

export function placeOf(row: unknown): string | undefined {
  return isRow(row) ? places.get(row) : undefined;
}

export function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As many bad rows are told at once. */
const MAX_TOLD = 10;

/** Collects what is wrong with rows, so that all of it is told at once. */
export class RowFaults {
  readonly told: SpotterError[] = [];
  count = 0;

  /** Takes note of a bad row, or of what was collected elsewhere; throws everything else on. */
  add(error: unknown): void {
    if (!SpotterError.is(error) || error.code !== "dataset_invalid") throw error;
    // Another copy of this module may have collected them: its class is not this one.
    const { told = [error], count = 1 } = (error.cause ?? {}) as Partial<RowFaults>;
    this.told.push(...told.slice(0, MAX_TOLD - this.told.length));
    this.count += count;
  }

  /** @throws SpotterError `dataset_invalid` if there is any, naming the first ten. */
  throwIfAny(): void {
    const [first] = this.told;
    if (first === undefined) return;
    if (this.count === 1) throw first;
    const rest = this.count > this.told.length ? `; the first ${this.told.length}` : "";
    const list = this.told.map(({ message }) => `\n  ${message}`).join("");
    throw new SpotterError("dataset_invalid", `${this.count} rows are not valid${rest}:${list}`, {
      where: first.where,
      hint: first.hint,
      cause: this,
    });
  }
}

/** A row lacks a column that a prompt needs. */
export class MissingColumn extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

export function invalidRow(where: string, what: string, cause?: unknown): SpotterError {
  const end = /[.?!]$/.test(what) ? "" : ".";
  return new SpotterError("dataset_invalid", `${where}: ${what}${end}`, {
    where,
    hint: cause instanceof MissingColumn ? cause.hint : "Correct or remove this row.",
    cause,
  });
}
