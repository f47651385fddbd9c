import { type Finding, type Path, placed, type Position, type Remark } from "./finding.ts";

export interface Place {
  /** Where the value begins. */
  value: Position;
  /** Where its key begins, where it has one. */
  key?: Position;
}

/** A configuration that was read: plain values, and where each of them stands. */
export interface ConfigDocument {
  /** File name relative to the folder. */
  file: string;
  /** Objects are plain; undefined where there is nothing to read. */
  value: unknown;
  /** What the reader itself found wrong, with places. */
  remarks: (Remark & { position?: Position | undefined })[];
  places: Map<string, Place>;
  /** Values that do not come from the file, with the words that set them. */
  origins: Map<string, string>;
}

export function emptyDocument(file: string): ConfigDocument {
  return { file, value: undefined, remarks: [], places: new Map(), origins: new Map() };
}

/** Keys may hold dots. */
export function placeKey(path: Path): string {
  return JSON.stringify(path);
}

/** Where a value stands; of one that is missing, where the nearest thing around it does. */
export function positionOf(document: ConfigDocument, path: Path, atKey = false): Position | undefined {
  for (let length = path.length; length >= 0; length--) {
    const place = document.places.get(placeKey(path.slice(0, length)));
    // Of a missing value the key around it says more than the first line of what is in there.
    if (place) return (atKey || length < path.length ? place.key : undefined) ?? place.value;
  }
  return undefined;
}

/** The words that set a value, or something that it is part of; undefined for what the file says. */
export function originOf(document: ConfigDocument, path: Path): string | undefined {
  for (let length = path.length; length > 0; length--) {
    const origin = document.origins.get(placeKey(path.slice(0, length)));
    if (origin !== undefined) return origin;
  }
  // A section that only the command line has.
  const key = placeKey(path);
  if (document.places.has(key)) return undefined;
  return [...document.origins].find(([each]) => each.startsWith(`${key.slice(0, -1)},`))?.[1];
}

/** A remark as a finding, at its place in the file or with the words that set the value. */
export function located(document: ConfigDocument, remark: Remark): Finding {
  const origin = originOf(document, remark.path);
  if (origin === undefined)
    return placed(remark, document.file, positionOf(document, remark.path, remark.atKey));
  return placed({ ...remark, message: `${remark.message} (${origin})` }, document.file, undefined);
}

/** Whence a value comes, as text: `config.yml:12`, the words that set it, or `default`. */
export function sourceOf(document: ConfigDocument, path: Path): string {
  const origin = originOf(document, path);
  if (origin !== undefined) return origin;
  const place = document.places.get(placeKey(path));
  return place ? `${document.file}:${(place.key ?? place.value).line}` : "default";
}
