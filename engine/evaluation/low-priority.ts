import { writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";

/** Of Linux, for the group of processes that shares a turn; the same words as `nice`. */
const AUTOGROUP = "/proc/self/autogroup";
/** A tenth of what others get where all want the same core: at the lowest one a busy machine would let it starve. */
const BEHIND = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Lets everything else on the machine go first. Threads that are started later inherit it, so this comes before the
 * engine's. Some systems share turns out to sessions and not to processes; where they take a word for that, they get it.
 */
export async function makeWay(): Promise<void> {
  setPriority(BEHIND);
  await writeFile(AUTOGROUP, String(BEHIND)).catch(() => undefined);
}
