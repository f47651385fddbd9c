#!/usr/bin/env node
// Runs a script of this repository under the Node version the project brings along.
//
//   node scripts/start.mjs [--build] SCRIPT [ARGS...]
//
// This file alone must run on any Node the machine happens to have: it is what makes `npm run demo`
// and `npm test` work as the very first command in a fresh clone, before anything is installed.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const node = join(root, "node_modules", "node", "bin", "node");
const built = join(root, "dist", ".built");

const args = process.argv.slice(2);
const needsBuild = args[0] === "--build";
if (needsBuild) args.shift();

if (!isInstalled()) {
  process.stderr.write("Installing dependencies (npm ci) ...\n");
  run(process.platform === "win32" ? "npm.cmd" : "npm", ["ci", "--no-audit", "--no-fund"]);
}
if (needsBuild) run(node, [join(root, "scripts", "build.mjs"), "--if-stale"]);
else if (!existsSync(built)) run(node, [join(root, "scripts", "build.mjs")]);

const child = spawn(node, args, { cwd: process.cwd(), stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
});

/** Whether node_modules holds what package-lock.json asks for; after a pull it may not. */
function isInstalled() {
  if (!existsSync(node)) return false;
  try {
    const wanted = packagesOf(join(root, "package-lock.json"));
    const present = packagesOf(join(root, "node_modules", ".package-lock.json"));
    return Object.entries(wanted).every(
      ([path, { version, optional }]) => path === "" || optional || present[path]?.version === version,
    );
  } catch {
    return false;
  }
}

function packagesOf(lockFile) {
  return JSON.parse(readFileSync(lockFile, "utf8")).packages;
}

function run(command, commandArgs) {
  const result = spawnSync(command, commandArgs, { cwd: root, stdio: ["ignore", 2, 2] });
  if (result.status !== 0) process.exit(result.status ?? 1);
}
