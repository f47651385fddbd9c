import { open, readdir, readFile, stat } from "node:fs/promises";
import { totalmem } from "node:os";
import { isAbsolute, join } from "node:path";
import { ggufConfig } from "../models/gguf-config.ts";

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

/** `config.json` of a folder of this machine, or what a GGUF file says in its place; undefined where neither can be read. */
export async function modelConfig(place: string): Promise<unknown> {
  if (!isAbsolute(place)) return undefined;
  if (GGUF.test(place)) return await ggufConfig((bytes) => readStart(place, bytes));
  const file = join(place, "config.json");
  try {
    const info = await stat(file);
    // A pipe would never end.
    if (!info.isFile() || info.size > MAX_CONFIG_BYTES) return undefined;
    return JSON.parse(await readFile(file, "utf8")) as unknown;
  } catch {
    return undefined;
  }
}

/** The first bytes of a file; undefined where they cannot be read. */
async function readStart(path: string, bytes: number): Promise<Uint8Array | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isFile() !== true) return undefined;
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(bytes, info.size)));
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Why a model cannot be read from a folder or GGUF file of this machine, as far as a look tells. */
export async function modelFault(path: string): Promise<string | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) return "does not exist";
  if (info.isFile()) return GGUF.test(path) ? ggufFault(path) : "is no folder and no GGUF file";
  if (!info.isDirectory()) return "is no folder and no GGUF file";
  const names = await readdir(path).catch(() => undefined);
  if (names === undefined) return "cannot be read";
  if (names.includes("config.json") || names.some((name) => GGUF.test(name))) return undefined;
  return "holds no config.json";
}

const GGUF = /\.gguf$/i;
const MAGIC = "GGUF";

async function ggufFault(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return "cannot be read";
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    if (bytesRead === 0) return "is empty";
    return buffer.toString("latin1") === MAGIC ? undefined : "does not begin as GGUF files do";
  } finally {
    await file.close();
  }
}
