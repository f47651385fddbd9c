import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "../../sdk/schema/files/make-folder.ts";
import { isWithin } from "../../sdk/schema/files/is-within.ts";
import type { EventFiles } from "../ports/event-files.ts";

/** On this disk, beside the state folder `home`. What `write` has resolved for is there after a power cut, too. */
export function createEventFiles(home: string): EventFiles {
  return { isOwn: (path) => isWithin(path, home), write };
}

async function write(path: string, offset: number, bytes: Uint8Array): Promise<boolean> {
  if (offset === 0) await makeFolder(dirname(path));
  const handle = await open(path, offset === 0 ? "w" : "r+").catch((error: unknown) => {
    if (offset > 0 && (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  });
  if (handle === undefined) return false;
  try {
    const { size } = await handle.stat();
    if (size < offset) return false;
    if (size > offset) await handle.truncate(offset);
    let at = 0;
    while (at < bytes.length) {
      const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, offset + at);
      at += bytesWritten;
    }
    await handle.sync();
    return true;
  } finally {
    await handle.close();
  }
}
