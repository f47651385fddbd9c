import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PythonBundle } from "../../sdk/schema/user-code.ts";

/** Writes the modules of a bundle into a folder, where Python finds them. */
export async function unpackPython({ files }: PythonBundle, folder: string): Promise<void> {
  for (const [path, source] of Object.entries(files)) {
    const to = join(folder, path);
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, source);
  }
}
