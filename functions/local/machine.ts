import { readFile, stat } from "node:fs/promises";
import { totalmem } from "node:os";
import { isAbsolute, join } from "node:path";

const MIB = 2 ** 20;
const MAX_CONFIG_BYTES = 2 ** 20;

/** What this machine has, or what its control group leaves it, in MiB. */
export function memoryMiB(
  total: number = totalmem(),
  constrained: number = process.constrainedMemory(),
): number {
  // Without a limit some kernels say 0, and some a number that no machine has.
  const limit = constrained > 0 && constrained < total ? constrained : total;
  return Math.floor(limit / MIB);
}

/** `config.json` of a folder of this machine; undefined where there is none that can be read. */
export async function modelConfig(folder: string): Promise<unknown> {
  if (!isAbsolute(folder)) return undefined;
  const file = join(folder, "config.json");
  try {
    const info = await stat(file);
    // A pipe would never end.
    if (!info.isFile() || info.size > MAX_CONFIG_BYTES) return undefined;
    return JSON.parse(await readFile(file, "utf8")) as unknown;
  } catch {
    return undefined;
  }
}
