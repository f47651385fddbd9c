import { randomBytes } from "node:crypto";
import { textOf, type Item } from "./table.ts";

/**
 * A document remembers the names of its last puts. A client that gets no answer sends a put again; the second
 * is refused because the first was done, and the name tells so, even if others have put since.
 */
const REMEMBERED = 6;
const NAMES = Array.from({ length: REMEMBERED }, (_, age) => `write${age}`);
const ID_BYTES = 12;

export function newWrite(): string {
  return randomBytes(ID_BYTES).toString("base64url");
}

/** Assignments of an update with the value `:write`; right sides are what was there before it. */
export const REMEMBER_WRITE = NAMES.map((name, age) =>
  age === 0 ? `${name} = :write` : `${name} = if_not_exists(${NAMES[age - 1]}, :none)`,
).join(", ");

export const NO_WRITE: Item = { ":none": { S: "-" } };

/** Holds unless the put of that name was done before; a document has all of the names or none. */
export const NOT_WRITTEN = `attribute_not_exists(write0) OR (${NAMES.map((name) => `${name} <> :write`).join(" AND ")})`;

/** The version that a put has made, as far as the document remembers it. */
export function versionOfWrite(item: Item, version: number, write: string): number | undefined {
  const age = NAMES.findIndex((name) => textOf(item, name) === write);
  return age === -1 ? undefined : version - age;
}
