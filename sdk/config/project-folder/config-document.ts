import type { Path, Position, Remark } from "./finding.ts";

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
