import { fileURLToPath } from "node:url";
import { typeName } from "./schema/type-name.ts";
import { SpotterError } from "./schema/errors.ts";

/** @throws SpotterError `invalid_input` for anything but a path or a `file:` URL. */
export function filePath(file: unknown, what: string): string {
  if (file instanceof URL && file.protocol === "file:") return pathOf(file, what);
  if (typeof file === "string" && file !== "" && !/^\w{2,}:\/\//.test(file)) return file;
  const given =
    file instanceof URL ? file.href : typeof file === "string" ? JSON.stringify(file) : typeName(file);
  throw invalid(`${what}: expected a path or a file: URL, not ${given}.`);
}

function pathOf(url: URL, what: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw invalid(`${what}: ${url.href} names no file here: ${String(cause)}`, cause);
  }
}

function invalid(message: string, cause?: unknown): SpotterError {
  return new SpotterError("invalid_input", message, {
    hint: 'Write a path, or new URL("./name", import.meta.url). What lies elsewhere is downloaded first.',
    cause,
  });
}
