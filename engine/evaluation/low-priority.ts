import { writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";

/** Of Linux, for the group of processes that shares a turn; the same words as `nice`. */
const AUTOGROUP = "/proc/self/autogroup";
const LOWEST = constants.priority.PRIORITY_LOW;

/**
 * Lets everything else on the machine go first. Threads that are started later inherit it, so this comes before the
 * engine's. Some systems share turns out to sessions and not to processes; where they take a word for that, they get it.
 */
export async function makeWay(): Promise<void> {
  setPriority(LOWEST);
  await writeFile(AUTOGROUP, String(LOWEST)).catch(() => undefined);
}
