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
