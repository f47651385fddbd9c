import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { diskError, errorCode } from "./disk-error.ts";

const OTHERS = 0o077;

/** What Spotter makes in its state folder, with what is written beside a file before it takes its place. */
const OWN =
  /^(?:(?:blobs|cache|compile-cache|containers|isolates)$|(?:state\.db|secrets\.json|gpu\.json|daemon|start\.lock|stopped)\b|backup-\d)/;

/**
 * Takes from everybody else what Spotter has directly in the state folder, and by that all below it. SQLite and Node
 * ask nobody about the modes of their files, and the user may have opened the folder itself to others.
 *
 * @throws SpotterError `state_unreadable`
 */
export function closeHome(home: string): void {
  // A home may be a folder that others use, too, such as /tmp or a project: what is not ours stays as it is.
  for (const name of readdirSync(home)) if (OWN.test(name)) closeOne(join(home, name));
}

function closeOne(path: string): void {
  try {
    const found = lstatSync(path);
    // What a link leads to is not ours, nor is what another user put here.
    if (found.isSymbolicLink() || found.uid !== process.getuid?.()) return;
    if ((found.mode & OTHERS) !== 0) chmodSync(path, found.mode & 0o777 & ~OTHERS);
  } catch (error) {
    // Clients come and go with files of their own here.
    if (errorCode(error) !== "ENOENT") throw diskError(error, path);
  }
}
