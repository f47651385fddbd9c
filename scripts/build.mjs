// Compiles sdk/, functions/ and engine/ to dist/, file for file, with declarations, and copies the
// shipped models. `--if-stale` does nothing when no source is newer than the last build.
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
import { bundleSdk } from "./bundle-sdk.mjs";

const root = join(import.meta.dirname, "..");
const stamp = join(root, "dist", ".built");
const sources = globSync(["{sdk,functions,engine}/**/*.{ts,json,jinja,safetensors}", "tsconfig*.json"], {
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
const models = join(root, "engine", "models");
if (existsSync(models)) cpSync(models, join(root, "dist", "engine", "models"), { recursive: true });
writeFileSync(stamp, fingerprint);
