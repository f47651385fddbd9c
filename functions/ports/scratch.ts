/** A file or folder outside of Store and Blobs that can be made again. */
export interface ScratchEntry {
  /** Path below the state folder. */
  name: string;
  bytes: number;
  /** When it was last written or read, as far as the home knows. */
  usedAtMs: number;
}

/** Caches and what was left behind. Nothing here is the only copy of anything. */
export interface Scratch {
  list(): Promise<ScratchEntry[]>;
  /** One that is gone is fine. */
  remove(name: string): Promise<void>;
}
