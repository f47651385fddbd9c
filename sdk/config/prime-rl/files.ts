/**
 * Configuration files: TOML, JSON or YAML, each value with its line and column. What is wrong with a file is a
 * finding, never an exception.
 *
 * @module
 */
import { readFileSync, statSync } from "node:fs";
import { extname, resolve as resolvePath } from "node:path";
import { FileFault, isTooDeep, type FileReader, type FileTree } from "./files-fault.ts";
import type { Finding } from "./types.ts";

/** The bytes of a file by its path as the user gave it. Throws `FileFault` or Node's errors. */
export type ReadBytes = (path: string) => Uint8Array;

/** Enough for any configuration; keeps a wrong path from filling the memory. */
const MAX_BYTES = 16 * 2 ** 20;

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** By suffix, loaded when a file needs them. */
const READERS: Record<string, () => Promise<FileReader>> = {
  ".toml": async () => (await import("./files-toml.ts")).readToml,
  ".json": async () => (await import("./files-json.ts")).readJson,
  ".yaml": async () => (await import("./files-yaml.ts")).readYaml,
  ".yml": async () => (await import("./files-yaml.ts")).readYaml,
};

export function bytesUnder(cwd: string): ReadBytes {
  return (path) => {
    const file = resolvePath(cwd, path);
    const stat = statSync(file);
    // Pipes and devices may never end, and what is too large is not read to find that out.
    if (!stat.isFile() && !stat.isDirectory())
      throw new FileFault(`${path} is no regular file.`, "Write its text into a file, and name that.");
    if (stat.isFile() && stat.size > MAX_BYTES) throw tooLarge(path);
    return readFileSync(file);
  };
}

function tooLarge(file: string): FileFault {
  return new FileFault(`${file} is larger than 16 MiB.`, "Name a configuration file.");
}

/**
 * Reads one configuration file.
 *
 * @example
 * const read = await readConfigFile("base.toml", bytesUnder(process.cwd()));
 * if ("tree" in read) console.log(read.tree.value);
 */
export async function readConfigFile(
  file: string,
  readBytes: ReadBytes,
): Promise<{ tree: FileTree } | { finding: Finding }> {
  const open = READERS[extname(file).toLowerCase()];
  try {
    if (!open) {
      const known = Object.keys(READERS).join(", ");
      throw new FileFault(`${file} has no known format.`, `The name has to end in one of ${known}.`);
    }
    const text = textOf(file, readBytes);
    const tree = (await open())(text, file);
    if (isTooDeep(tree.value)) throw tooDeep(file);
    return { tree };
  } catch (error) {
    const { message, hint, line, column } = faultOf(error, file);
    return {
      finding: { code: "invalid_input", severity: "error", path: "", message, hint, file, line, column },
    };
  }
}

function faultOf(error: unknown, file: string): FileFault {
  if (error instanceof FileFault) return error;
  // The one error that every parser has: its stack ends.
  if (error instanceof RangeError) return tooDeep(file);
  throw error;
}

function tooDeep(file: string): FileFault {
  return new FileFault(`${file} is nested too deeply.`, "No setting needs more than a hundred levels.");
}

function textOf(file: string, readBytes: ReadBytes): string {
  const bytes = bytesOf(file, readBytes);
  if (bytes.byteLength > MAX_BYTES) throw tooLarge(file);
  try {
    // The mark at the start that some editors write is no part of the text; the decoder drops it.
    return UTF8.decode(bytes);
  } catch {
    throw new FileFault(`${file} is not UTF-8 text.`, "Save the file as UTF-8.");
  }
}

function bytesOf(file: string, readBytes: ReadBytes): Uint8Array {
  try {
    return readBytes(file);
  } catch (error) {
    if (error instanceof FileFault) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new FileFault(`There is no file ${file}.`, "Paths are relative to the folder you are in.");
    if (code === "EISDIR") throw new FileFault(`${file} is a folder.`, "Name a file in it.");
    if (code === "ELOOP")
      throw new FileFault(`${file} is a link that leads nowhere.`, "Name the file itself.");
    throw new FileFault(`${file} cannot be read: ${message}.`, "Check its permissions.");
  }
}
