import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { SpotterError } from "./schema/errors.ts";
import { parseWith } from "./schema/parse.ts";
import { pythonBundle, type PythonBundle } from "./schema/user-code.ts";
import { filePath } from "./file-path.ts";
import type { PythonParts } from "./python-params.ts";
import type { Packed } from "./upload.ts";

/** Sources, not data: what is larger does not belong into a bundle. */
const MAX_BYTES = 8 * 1024 * 1024;

/** `import a, b.c as d` and `from a.b import c`, wherever they stand in a line of their own. */
const IMPORT = /^[ \t]*(?:import[ \t]+([^\n#]+)|from[ \t]+([\w.]+)[ \t]+import\b)/gmu;

/**
 * The Python files of a run with the modules beside them that they import, and so on, and what requirements.txt says.
 * Equal sources give equal hashes.
 *
 * @throws SpotterError `reward_missing` or `tool_missing` without the file, `user_code_invalid` for files of two
 * folders, `payload_too_large`.
 */
export function packPython(parts: PythonParts): Packed<{ sha256: string }> {
  const entries = (["rewards", "tools"] as const).flatMap((word) => {
    const file = parts[word]?.file;
    return file === undefined ? [] : [{ word, path: resolve(filePath(file, word)) }];
  });
  for (const { word, path } of entries) if (!existsSync(path)) throw missing(word, path);
  const [folder, other] = new Set(entries.map(({ path }) => dirname(path)));
  if (folder === undefined || other !== undefined) throw apart(folder, other);
  const files: Record<string, string> = {};
  for (const { path } of entries) addModule(folder, path, files);
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  const requirements = requirementsOf(folder);
  const content = { v: 1, files: sorted, ...(requirements !== undefined && { requirements }) };
  const bundle: PythonBundle = parseWith(pythonBundle, content, "The Python files");
  const bytes = new TextEncoder().encode(JSON.stringify(bundle));
  if (bytes.byteLength > MAX_BYTES) throw tooLarge(folder, bytes.byteLength);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { ref: { sha256 }, bytes, name: basename(entries[0]?.path ?? ""), language: "python" };
}

function requirementsOf(folder: string): string | undefined {
  const file = join(folder, "requirements.txt");
  return existsSync(file) ? readFileSync(file, "utf8").replace(/^\uFEFF/, "") : undefined;
}

function addModule(folder: string, file: string, files: Record<string, string>): void {
  const path = relative(folder, file).replaceAll("\\", "/");
  if (path in files) return;
  const source = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  files[path] = source;
  for (const name of importedIn(source)) {
    const module = join(folder, `${name}.py`);
    const found = existsSync(join(folder, name)) ? modulesIn(join(folder, name)) : [];
    for (const each of existsSync(module) ? [module] : found) addModule(folder, each, files);
  }
}

/** First parts of the names that are imported: `a` of `a.b`. */
function importedIn(source: string): Set<string> {
  const names = [...source.matchAll(IMPORT)].flatMap(([, listed, from]) => (listed ?? from ?? "").split(","));
  const roots = names.map((name) => name.trim().split(/[.\s]/u)[0] ?? "");
  return new Set(roots.filter((root) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(root)));
}

/** A package is taken whole: how its modules find each other is its own affair. */
function modulesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".py"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function missing(word: "rewards" | "tools", path: string): SpotterError {
  return new SpotterError(
    word === "rewards" ? "reward_missing" : "tool_missing",
    `There is no file ${path}.`,
    {
      where: path,
      hint: "Create it, or correct the path.",
    },
  );
}

function apart(folder = "", other = ""): SpotterError {
  return new SpotterError(
    "user_code_invalid",
    `Rewards and tools lie in two folders: ${folder} and ${other}.`,
    {
      where: "tools",
      hint: "Put the Python files into one folder: they run in one process.",
    },
  );
}

function tooLarge(folder: string, bytes: number): SpotterError {
  return new SpotterError(
    "payload_too_large",
    `The Python files have ${bytes} bytes; ${MAX_BYTES} is the most.`,
    {
      where: folder,
      hint: "Install large packages where the training runs instead of putting them beside the files.",
    },
  );
}
