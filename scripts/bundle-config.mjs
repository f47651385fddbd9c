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
    // CommonJS does not bundle into modules.
    external: ["commander", "picocolors", "yaml"],
    keepNames: true,
    logLevel: "warning",
    plugins: [keepApart],
  });
}

/**
 * What has to stay one file for all commands: what starts something, because the SDK finds its program and package by
 * where its own files lie, and the class of the error that says nothing more. All chunks lie beside the entries.
 */
const keepApart = {
  name: "keep-apart",
  setup({ onResolve }) {
    onResolve({ filter: /\/rl-launch\.js$/ }, () => ({ path: "./rl-launch.js", external: true }));
    onResolve({ filter: /\/told\.js$/ }, () => ({ path: "../told.js", external: true }));
  },
};
