// Compiles sdk/, functions/ and engine/ to dist/, file for file, with declarations, and copies the
// shipped models, and bundles what the pages load in a browser. `--if-stale` does nothing when no source
// is newer than the last build.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundleSdk } from "./bundle-sdk.mjs";

const root = join(import.meta.dirname, "..");
const stamp = join(root, "dist", ".built");
const sources = globSync(["{sdk,functions,engine}/**/*.{ts,css,json,jinja,safetensors}", "tsconfig*.json"], {
  cwd: root,
});
const state = createHash("sha256");
for (const file of sources.sort()) {
  const { mtimeMs, size } = statSync(join(root, file));
  state.update(`${file}\0${mtimeMs}\0${size}\n`);
}
const fingerprint = state.digest("hex");

if (process.argv.includes("--if-stale") && existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint) {
  process.exit(0);
}
rmSync(join(root, "dist"), { recursive: true, force: true });
mkdirSync(join(root, "dist"), { recursive: true });
const tsc = spawnSync(
  process.execPath,
  [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", "tsconfig.build.json"],
  {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  },
);
if (tsc.status !== 0) process.exit(tsc.status ?? 1);
await bundleSdk(join(root, "dist"));
await bundlePages();
const models = join(root, "engine", "models");
if (existsSync(models)) cpSync(models, join(root, "dist", "engine", "models"), { recursive: true });
writeFileSync(stamp, fingerprint);

/** With the function that the control plane uses where it runs from its sources; it was just compiled. */
async function bundlePages() {
  const pages = join(root, "dist", "functions", "pages");
  const { bundleClient } = await import(pathToFileURL(join(pages, "bundle-client.js")).href);
  const { script, style } = await bundleClient(join(root, "functions", "pages", "client"));
  mkdirSync(join(pages, "client"), { recursive: true });
  writeFileSync(join(pages, "client", "main.js"), script);
  writeFileSync(join(pages, "client", "main.css"), style);
}
