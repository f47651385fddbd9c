/** Of a run's record, which is stored as one item with everything else that is known of the run. */
export const MAX_METRICS_BYTES = 64 * 1024;
/** What a number takes at most, with what stands between two of them. */
const NUMBER_BYTES = 26;

/**
 * The latest value of each metric. Names that user code makes up may have no end: those for which there is no room
 * are in the run's events alone. `isLate`: what is known already is of a later step.
 */
export function latestMetrics(
  known: Readonly<Record<string, number>>,
  told: Readonly<Record<string, number>>,
  isLate = false,
): Record<string, number> {
  let bytes = Object.keys(known).reduce((sum, name) => sum + bytesOf(name), 0);
  const latest = { ...known };
  for (const [name, value] of Object.entries(told)) {
    if (Object.hasOwn(known, name)) {
      if (!isLate) latest[name] = value;
      continue;
    }
    const more = bytesOf(name);
    if (bytes + more > MAX_METRICS_BYTES) continue;
    bytes += more;
    latest[name] = value;
  }
  return latest;
}

function bytesOf(name: string): number {
  return Buffer.byteLength(JSON.stringify(name)) + NUMBER_BYTES;
}
