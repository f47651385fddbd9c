/**
 * Changes to single places of a list, as flags with a position make them: `--envs.0.workers 9`. It waits in the
 * layer of the flags until it meets the list of the files.
 */
export class ListPatch {
  readonly items: ReadonlyMap<number, unknown>;

  constructor(items: Iterable<readonly [number, unknown]>) {
    // In order, so that a list grows without gaps whatever the order of the flags.
    this.items = new Map([...items].sort(([a], [b]) => a - b));
  }
}
