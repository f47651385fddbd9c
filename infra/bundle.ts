import { createHash } from "node:crypto";
import {
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeBundle, type Bundle } from "./bundle/make-bundle.ts";

export type { Bundle } from "./bundle/make-bundle.ts";

export interface BundleOptions {
  /** Of the sources. Default: the clone. What was made is kept in its `.cache/bundles`, which git does not look at. */
  root?: string;
  /** Makes what is not there yet. Default: {@link makeBundle}. */
  make?: (entry: URL) => Promise<Bundle>;
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Everything that a bundle is made of, or made by; what is in packages goes by the lock file. */
const SOURCES = ["functions/**/*", "sdk/schema/**/*", "infra/bundle/**/*", "infra/*.ts", "package-lock.json"];

/**
 * The bundle of an entry, made once for the same sources: Pulumi runs its program twice for each update, and to bundle
 * all functions takes seconds.
 *
 * @example
 * const { "index.mjs": code } = await bundle(new URL("../functions/lambda/keys.ts", import.meta.url));
 */
export async function bundle(
  entry: URL,
  { root = ROOT, make = makeBundle }: BundleOptions = {},
): Promise<Bundle> {
  const folder = join(root, ".cache/bundles");
  const name = basename(entry.pathname, ".ts");
  const path = join(folder, `${name}-${keyOf(entry, root)}.json`);
  const known = read(path);
  if (known !== undefined) return known;
  const made = await make(entry);
  mkdirSync(folder, { recursive: true });
  forgetOthers(folder, name);
  // Nobody finds it half written; whoever makes it at the same time makes the same.
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, JSON.stringify(made));
  renameSync(beside, path);
  return made;
}

function read(path: string): Bundle | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Bundle;
  } catch {
    // Not there, or taken away by who made a newer one.
    return undefined;
  }
}

/** Of older sources. */
function forgetOthers(folder: string, name: string): void {
  const own = new RegExp(`^${name}-[0-9a-f]{16}\\.json$`);
  for (const each of readdirSync(folder)) if (own.test(each)) rmSync(join(folder, each), { force: true });
}

/** Another one when any source was changed, or another Node makes it. */
function keyOf(entry: URL, root: string): string {
  const hash = createHash("sha256").update(`${fileURLToPath(entry)}\0${process.version}\0`);
  for (const file of globSync(SOURCES, { cwd: root }).sort()) {
    const { size, mtimeMs } = statSync(join(root, file));
    hash.update(`${file}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}
