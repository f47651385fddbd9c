import type { Origins } from "./provenance.ts";

/** A file once it is read: plain values, and where each stands. */
export interface FileTree {
  value: unknown;
  origins: Origins;
}

/** A place in a file, both from 1. */
export interface Place {
  line: number;
  column: number;
}

/** What a reader of one format makes of a text; throws `FileFault`. `file` is its name as it was given. */
export type FileReader = (text: string, file: string) => FileTree;

/** What is wrong at a place of a file. */
export class FileFault extends Error {
  readonly hint: string;
  readonly line: number | null;
  readonly column: number | null;

  constructor(message: string, hint: string, place?: Place) {
    super(message);
    this.hint = hint;
    this.line = place?.line ?? null;
    this.column = place?.column ?? null;
  }
}

/** Refuses the one name that reaches into JavaScript's own objects instead of a table. */
export function checkKey(key: string, place: Place): void {
  if (key === "__proto__")
    throw new FileFault(`${key} is no name for a setting.`, "Take another name.", place);
}

/** The origins under one step, made anew with that place. */
export function originsBelow(origins: Origins, step: string | number, file: string, place: Place): Origins {
  const made: Origins = { origin: { kind: "file", file, line: place.line, column: place.column } };
  (origins.below ??= new Map()).set(step, made);
  return made;
}

/** Deeper than any configuration, and far above the depth at which stacks end. */
const MAX_DEPTH = 100;

/** Whether a value is nested deeper than anything that walks trees should have to go. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth >= MAX_DEPTH || Object.values(value).some((item) => isTooDeep(item, depth + 1));
}
