// Compiles sdk/, functions/ and engine/ to dist/, file for file, with declarations, and copies the
// shipped models, and bundles what the pages load in a browser. `--if-stale` does nothing when no source
// is newer than the last build.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { bundleConfig } from "./bundle-config.mjs";
import { bundleSdk } from "./bundle-sdk.mjs";

const root = join(import.meta.dirname, "..");
const stamp = join(root, "dist", ".built");
const sources = globSync(
  ["{sdk,functions,engine}/**/*.{ts,css,json,jinja,safetensors,py}", "tsconfig*.json"],
  {
    cwd: root,
  },
);
const state = createHash("sha256");
for (const file of sources.sort()) {
  const { mtimeMs, size } = statSync(join(root, file));
  state.update(`${file}\0${mtimeMs}\0${size}\n`);
}
const fingerprint = state.digest("hex");

if (process.argv.includes("--if-stale") && existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint) {
  process.exit(0);
}
// Whoever runs from dist/ meanwhile must never find it half written: build beside it, then swap.
const fresh = join(root, `.dist-${process.pid}`);
const old = join(root, `.dist-${process.pid}-old`);
try {
  const tsc = spawnSync(
    process.execPath,
    [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", "tsconfig.build.json", "--outDir", fresh],
    { cwd: root, stdio: ["ignore", "inherit", "inherit"] },
  );
  if (tsc.status !== 0) process.exit(tsc.status ?? 1);
  const { compileRows } = await import("./compile-rows.mjs");
  await compileRows(root, fresh);
  await bundleSdk(fresh);
  await bundleConfig(fresh);
  await bundlePages();
  cpSync(join(root, "engine", "models"), join(fresh, "engine", "models"), { recursive: true });
  const isSource = (path) => !path.endsWith("__pycache__");
  cpSync(join(root, "engine", "python"), join(fresh, "engine", "python"), {
    recursive: true,
    filter: isSource,
  });
  writeFileSync(join(fresh, ".built"), fingerprint);
  if (existsSync(join(root, "dist"))) renameSync(join(root, "dist"), old);
  renameSync(fresh, join(root, "dist"));
} finally {
  rmSync(fresh, { recursive: true, force: true });
  rmSync(old, { recursive: true, force: true });
}
linkProgram();

/** With the function that the control plane uses where it runs from its sources; it was just compiled. */
async function bundlePages() {
  const pages = join(fresh, "functions", "pages");
  const { bundleClient } = await import(pathToFileURL(join(pages, "bundle-client.js")).href);
  const { script, style } = await bundleClient(join(root, "functions", "pages", "client"));
  mkdirSync(join(pages, "client"), { recursive: true });
  writeFileSync(join(pages, "client", "main.js"), script);
  writeFileSync(join(pages, "client", "main.css"), style);
}

/** `npx spotter` in a clone finds the program here; without it npx would install the clone into a cache. */
function linkProgram() {
  const bin = join(root, "node_modules", ".bin");
  if (!existsSync(bin) || process.platform === "win32") return;
  const program = join(root, "dist", "sdk", "cli", "bin.js");
  chmodSync(program, 0o755);
  rmSync(join(bin, "spotter"), { force: true });
  symlinkSync(relative(bin, program), join(bin, "spotter"));
}
