import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Of the package that this file lies in, source or compiled. */
export function packageVersion(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const manifest = read(join(folder, "package.json"));
    if (manifest !== undefined) return (JSON.parse(manifest) as { version: string }).version;
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`There is no package.json above ${import.meta.url}`);
    folder = parent;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
