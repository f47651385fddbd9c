#!/usr/bin/env node
// Runs under any Node 18 or newer: it only decides which Node the command line itself runs under.
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";

const OLDEST = [22, 19];
const version = process.versions.node.split(".").map(Number);
const major = version[0] ?? 0;
const isNewEnough = major > 22 || (major === 22 && (version[1] ?? 0) >= 19);

if (isNewEnough) {
  // `spotter run list | head`: who reads has seen enough.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit(0);
    });
  }
  // Compiled once, loaded by every later command; Node keeps it among its temporary files.
  nodeModule.enableCompileCache?.();
  const { tellWarnings } = await import("./warnings.ts");
  tellWarnings(process, process.stderr);
  const { main } = await import("./main.ts");
  process.exitCode = await main(process.argv.slice(2));
} else {
  await reexecute();
}

/** Goes on under the Node that came with the package or its neighbours, else says what to install. */
async function reexecute(): Promise<void> {
  const here = fileURLToPath(import.meta.url);
  const node = bundledNode();
  if (node === undefined) {
    process.stderr.write(
      `spotter needs Node ${OLDEST.join(".")} or newer; this is ${process.versions.node}.\n` +
        "Install a newer one from https://nodejs.org, or run `npm install node@24` in your project.\n",
    );
    process.exitCode = 2;
    return;
  }
  const { spawn } = await import("node:child_process");
  const child = spawn(node, [here, ...process.argv.slice(2)], { stdio: "inherit" });
  // The terminal sends Ctrl-C to both; the child decides what it means.
  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
  });
}

function bundledNode(): string | undefined {
  // dist/sdk/cli/bin.js: the package's own node_modules, then the one the package is installed in.
  for (const up of ["../../../node_modules/", "../../../../"]) {
    const node = fileURLToPath(new URL(`${up}node/bin/node`, import.meta.url));
    if (existsSync(node)) return node;
  }
  return undefined;
}
