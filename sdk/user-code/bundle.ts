import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { BuildFailure, BuildOptions, Message, Metafile } from "esbuild";
import { filePath } from "../file-path.ts";
import { SpotterError } from "../schema/errors.ts";
import { codeGenerationIn } from "./code-generation.ts";
import { spotterModule } from "./spotter-module.ts";

export interface UserCodeBundle {
  /** One ES module without imports (but `node:*`), source map at its end. */
  code: Uint8Array;
  /** Of `code`; equal sources give equal hashes on every machine. */
  sha256: string;
  /** File name for messages. */
  name: string;
  /** Names the file exports, rewards or not. */
  exportNames: string[];
  /** What will not work in an isolate though it bundles, with file:line:column. */
  warnings: string[];
}

/**
 * Bundles a file of rewards, tools or environments, with everything it imports, into the one module that
 * isolates run. npm packages are found from the file's own folder.
 *
 * @throws SpotterError `reward_missing` if there is no such file or it exports nothing; `user_code_invalid`
 * with every error's file:line:column if it does not bundle.
 * @example
 * const { code, sha256 } = await bundleUserCode(new URL("./rewards.ts", import.meta.url));
 */
export async function bundleUserCode(entry: URL | string): Promise<UserCodeBundle> {
  const file = resolve(filePath(entry, "rewards"));
  const name = basename(file);
  if (!existsSync(file) || !statSync(file).isFile()) {
    throw new SpotterError("reward_missing", `There is no file ${file}.`, {
      where: file,
      hint: "Create it and export at least one reward, or correct the path.",
    });
  }
  // Loaded here only: an SDK user who trains nothing never pays for it.
  const { build } = await import("esbuild");
  try {
    const result = await build({ ...optionsFor(file), stdin: entryModule(file) });
    // The entry has a default export of its own, so the user's is seen only by parsing the file alone.
    const direct = await build({
      entryPoints: [file],
      write: false,
      metafile: true,
      format: "esm",
      outdir: ".",
    });
    const code = result.outputFiles?.[0]?.contents ?? new Uint8Array();
    const exportNames = [...new Set([...exportsOf(direct.metafile), ...starExportsOf(result.metafile)])];
    if (exportNames.length === 0) throw exportsNothing(name, file);
    return {
      code,
      sha256: createHash("sha256").update(code).digest("hex"),
      name,
      exportNames,
      warnings: await codeGenerationIn(Object.keys(result.metafile?.inputs ?? {}), dirname(file)),
    };
  } catch (error) {
    throw isBuildFailure(error) ? doesNotBundle(name, error) : error;
  }
}

function optionsFor(file: string): BuildOptions {
  return {
    absWorkingDir: dirname(file),
    outfile: `${dirname(file)}/bundle.mjs`,
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "neutral",
    target: "es2024",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "import"],
    external: ["node:*"],
    plugins: [spotterModule()],
    sourcemap: "inline",
    sourcesContent: false,
    // A dictionary of 130,000 lines starts a third faster without its indentation; names stay readable.
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "silent",
    // The user's own tsconfig may ask for settings that mean nothing in an isolate.
    tsconfigRaw: {},
  };
}

/** Exports everything beside the adapter, so that esbuild tells the names behind `export * from`. */
function entryModule(file: string): NonNullable<BuildOptions["stdin"]> {
  const path = JSON.stringify(`./${basename(file)}`);
  return {
    contents: [
      `import * as user from ${path};`,
      `import { createAdapter } from "spotter:adapter";`,
      `export * from ${path};`,
      `export default createAdapter(user);`,
    ].join("\n"),
    resolveDir: dirname(file),
    sourcefile: "spotter-entry.js",
    loader: "js",
  };
}

function exportsOf(metafile: Metafile | undefined): string[] {
  return Object.values(metafile?.outputs ?? {}).flatMap((output) => output.exports);
}

function starExportsOf(metafile: Metafile | undefined): string[] {
  return exportsOf(metafile).filter((name) => name !== "default");
}

function exportsNothing(name: string, file: string): SpotterError {
  return new SpotterError("reward_missing", `${name} exports nothing.`, {
    where: file,
    hint: "Export a reward, a tool or an environment, such as export const good = reward(({ response }) => response.content.length > 0 ? 1 : 0);",
  });
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors);
}

function doesNotBundle(name: string, failure: BuildFailure): SpotterError {
  const list = failure.errors.map((message) => `  ${positionOf(message) ?? name}: ${message.text}`);
  return new SpotterError("user_code_invalid", `${name} does not bundle:\n${list.join("\n")}`, {
    where: failure.errors[0] && positionOf(failure.errors[0]),
    hint: failure.errors.map(hintFor).find(Boolean) ?? "Correct the lines named above.",
    cause: failure,
  });
}

function positionOf({ location }: Message): string | undefined {
  // esbuild counts columns from 0.
  return location ? `${location.file}:${location.line}:${location.column + 1}` : undefined;
}

function hintFor({ text }: Message): string | undefined {
  if (text.includes("spotter:") && text.startsWith("No matching export")) {
    return 'In an isolate "spotter" exports reward, tool, environment and mathEqual only; keep launching code in another file.';
  }
  const missing = /Could not resolve "([^"./][^"]*)"/.exec(text)?.[1];
  return missing && `Install it where the file lies (npm install ${missing}), or correct the name.`;
}
