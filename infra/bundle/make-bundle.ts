import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { awsClients } from "./aws-clients.ts";
import { browserFiles } from "./browser-files.ts";
import { httpClient } from "./http-client.ts";
import { userCodeHost } from "../user-code-host.ts";

/** The files of a function, by name. `index.mjs` exports the handler; the others are loaded when needed. */
export type Bundle = Record<string, string>;

/** Of packages that no function uses: they are optional, or there for running from the sources. */
const ABSENT = ["esbuild", "@opentelemetry/*", "bowser"];

/** Modules of the other kind ask for Node's own by `require`, which an ES module has not. */
const REQUIRE = `import{createRequire as requireFrom}from"node:module";const require=requireFrom(import.meta.url);`;

/**
 * A Lambda entry and all it imports. What the entry loads later (clients of AWS, the pages) are files of their
 * own, so that a cold start reads only what it needs. The same sources give the same files, so a deployment
 * without changes changes nothing.
 */
export async function makeBundle(entry: URL): Promise<Bundle> {
  const path = fileURLToPath(entry);
  const functions = dirname(dirname(path));
  const { outputFiles, metafile } = await build({
    entryPoints: [{ in: path, out: "index" }],
    outdir: dirname(path),
    outExtension: { ".js": ".mjs" },
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    minify: true,
    legalComments: "none",
    logLevel: "silent",
    platform: "node",
    target: "node24",
    format: "esm",
    // The clients of AWS have ES modules, of which what is not used can be left out.
    mainFields: ["module", "main"],
    external: ABSENT,
    banner: { js: REQUIRE },
    plugins: [await awsClients(path), httpClient()],
  });
  const files = outputFiles.map(({ path, text }): [string, string] => [basename(path), text]);
  const inputs = Object.keys(metafile.inputs);
  const has = (source: string) => inputs.some((input) => input.endsWith(source));
  return {
    ...Object.fromEntries(files.sort(([a], [b]) => (a < b ? -1 : 1))),
    ...(has("functions/pages/routes.ts") && (await browserFiles(join(functions, "pages/client/")))),
    ...(has("aws-deps/isolates.ts") && { "user-code-host.mjs": userCodeHost() }),
  };
}
