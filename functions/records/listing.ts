/** A record in memory and the version it has in the Store. */
export interface Known {
  version: number;
}

/**
 * Brings what is known up to what a query listed. Whatever was written here while the query ran is newer than it;
 * what was known before and is listed no more is gone.
 *
 * @param before The entries as they were when the query began.
 */
export function adopt<T extends Known>(
  known: Map<string, T>,
  before: ReadonlyMap<string, T>,
  listed: ReadonlyMap<string, T>,
  told: { changed: (entry: T) => void; gone: (entry: T) => void },
): void {
  for (const [name, entry] of listed) {
    const current = known.get(name);
    // One that was deleted and made again begins at version 1, so that only the same version is no news.
    const isNewer =
      current === before.get(name) ? current?.version !== entry.version : isBehind(current, entry);
    if (!isNewer) continue;
    known.set(name, entry);
    told.changed(entry);
  }
  for (const [name, entry] of before) {
    if (listed.has(name) || known.get(name) !== entry) continue;
    known.delete(name);
    told.gone(entry);
  }
}

function isBehind(current: Known | undefined, listed: Known): boolean {
  return current === undefined || current.version < listed.version;
}
