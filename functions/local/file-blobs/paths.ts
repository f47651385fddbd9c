import { join } from "node:path";
import { checkBlobKey } from "../../blobs/blob-key.ts";

/** The file of a key below `root`; a key that could lead elsewhere is `invalid_input`. */
export function pathOf(root: string, key: string): string {
  checkBlobKey(key);
  return join(root, ...key.split("/"));
}
