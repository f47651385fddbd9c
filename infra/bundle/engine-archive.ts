import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { ArchiveFile } from "./tar.ts";

/** Processors that ONNX Runtime has a build for on Linux. */
export type Architecture = "x64" | "arm64";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** What the embedded engine is, compiled by `npm run build`, which `npm ci` does. */
const OWN = ["dist/engine", "dist/sdk/schema"];
/** For people and compilers; nothing of it runs. */
const UNUSED = /\.(d\.[cm]?ts|ts|map|md|markdown|flow)$|(^|\/)(\.[^/]*|docs?|tests?|examples?|script)(\/|$)/;
/** Native builds of ONNX Runtime, of which a container needs one: `bin/napi-v6/linux/x64/…`. */
const NATIVE = /(^|\/)bin\/napi-v\d+\/([^/]+)\/([^/]+)\//;

/**
 * The runtime of the embedded engine for a container with Node and nothing else: our compiled files, the models that
 * ship with them, and the packages they use.
 *
 * @example
 * const files = engineFiles("arm64"); // run `node dist/engine/serve.js` where they lie
 * @throws Error where the package has not been built.
 */
export function engineFiles(architecture: Architecture, root: string = ROOT): ArchiveFile[] {
  const missing = OWN.find((folder) => !existsSync(join(root, folder)));
  if (missing !== undefined) {
    throw new Error(
      `${join(root, missing)} is not there. Run \`npm run build\`, or \`npm ci\`, which does it.`,
    );
  }
  const own = OWN.flatMap((folder) => filesBelow(join(root, folder)));
  const packages = [...packagesOf(own, root)].flatMap((folder) => filesBelow(folder));
  const paths = [...own, ...packages].filter((path) => isForUs(relative(root, path), architecture));
  return [
    // Tells Node that our files are ES modules.
    { path: "package.json", content: Buffer.from('{"type":"module"}\n') },
    ...paths.map((path) => ({
      path: relative(root, path).split(sep).join("/"),
      content: readFileSync(path),
    })),
  ];
}

function filesBelow(folder: string): string[] {
  return (
    globSync("**/*", { cwd: folder })
      .map((path) => join(folder, path))
      .filter((path) => statSync(path).isFile())
      // Packages of a package have folders of their own; those that lie within are found as such.
      .filter((path) => !relative(folder, path).split(sep).includes("node_modules"))
  );
}

function isForUs(path: string, architecture: Architecture): boolean {
  const [, , system, processor] = NATIVE.exec(path.split(sep).join("/")) ?? [];
  if (system !== undefined) return system === "linux" && processor === architecture;
  return path.startsWith("dist") ? !/\.d\.ts$/.test(path) : !UNUSED.test(withinPackage(path));
}

/** A file's path within its package: what is unused is so there, whatever lies above. */
function withinPackage(path: string): string {
  return path
    .split(sep)
    .join("/")
    .replace(/^.*node_modules\/(@[^/]+\/)?[^/]+\//, "");
}

/** Folders of all packages that these files use, and that those use. */
function packagesOf(files: string[], root: string): Set<string> {
  const found = new Set<string>();
  const add = (name: string, from: string): void => {
    const folder = folderOf(name, from);
    if (folder === undefined || found.has(folder)) return;
    found.add(folder);
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      dependencies?: Record<string, string>;
    };
    for (const each of Object.keys(dependencies)) add(each, folder);
  };
  for (const name of importsOf(files)) add(name, root);
  return found;
}

/** Names of packages that our compiled files import. */
function importsOf(files: string[]): Set<string> {
  const specifier = /(?:from|import)\s*\(?\s*"((?:@[a-z0-9-]+\/)?[a-z0-9][a-z0-9.-]*)(?:\/[^"]*)?"/g;
  const texts = files.filter((path) => path.endsWith(".js")).map((path) => readFileSync(path, "utf8"));
  return new Set(texts.flatMap((text) => [...text.matchAll(specifier)].map(([, name = ""]) => name)));
}

/** Where Node would find a package, looked for from a folder; undefined for one that is not there: it is optional. */
function folderOf(name: string, from: string): string | undefined {
  for (const folder of createRequire(join(from, "package.json")).resolve.paths(name) ?? []) {
    const candidate = join(folder, name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (dirname(candidate) === candidate) break;
  }
  return undefined;
}
