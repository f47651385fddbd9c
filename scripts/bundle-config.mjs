// Makes few files of what resolves a configuration. Unbundled, `spotter rl @ rl.toml --dry-run` reads some two
// hundred (see bundle-sdk.mjs) and takes twice as long. What is loaded later (formats, help) stays apart, in
// chunks that share what they have in common: a class is the same class in all of them.
import { build } from "esbuild";
import { join } from "node:path";

/** What sdk/cli/commands/rl-words.js loads. */
const ENTRIES = ["rl-entrypoint", "config-words"];

export async function bundleConfig(dist) {
  const commands = join(dist, "sdk", "cli", "commands");
  await build({
    entryPoints: ENTRIES.map((name) => join(commands, `${name}.js`)),
    outdir: commands,
    allowOverwrite: true,
    bundle: true,
    splitting: true,
    chunkNames: "config-chunk-[hash]",
    format: "esm",
    platform: "node",
    target: "node22",
    // The command line asks whether an error is one of commander's, so there must be one commander only. The others
    // are CommonJS, which does not bundle into modules.
    external: ["commander", "picocolors", "yaml"],
    keepNames: true,
    logLevel: "warning",
  });
}
