import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

/**
 * The one file that every function of user code has beside the user's bundle. The control plane makes those
 * functions when code is loaded, so it needs this text where it runs, as `user-code-host.mjs` beside its own.
 * Not split: the process of user code may read this file and no other.
 */
export function userCodeHost(): string {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL("../functions/lambda/user-code-host.ts", import.meta.url))],
    bundle: true,
    write: false,
    minify: true,
    legalComments: "none",
    logLevel: "silent",
    platform: "node",
    target: "node24",
    format: "esm",
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error("esbuild made nothing of the host of user code.");
  return file.text;
}
