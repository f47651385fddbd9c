/**
 * How long a stranger waits: from nothing running to the first token, the import of the SDK, the exit after
 * the last await, and the SDK's size.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleSdk } from "../scripts/sdk-size.ts";
import { exec, lastJson, median, type Figures } from "./figures.ts";

const root = join(import.meta.dirname, "..");
const ROUNDS = 5;

const FIRST_TOKEN = `
const startedAt = Date.now() - process.uptime() * 1000;
const { Endpoint, models } = await import("spotter");
const endpoint = await Endpoint.launch(models.get("spotter/nano"));
await endpoint.waitUntilReady({ timeoutMs: 60_000 });
let firstTokenMs;
for await (const delta of endpoint.stream([{ role: "user", content: "Write a haiku about rain." }], { max_tokens: 8 })) {
  if (delta.content && firstTokenMs === undefined) firstTokenMs = Date.now() - startedAt;
}
console.log(JSON.stringify({ firstTokenMs, lastAwaitAtMs: Date.now() }));
`;

const IMPORT = `
const before = performance.now();
await import("spotter");
console.log(JSON.stringify({ importMs: performance.now() - before }));
`;

export async function run(log: (line: string) => void): Promise<Figures> {
  const firstTokens: number[] = [];
  const exits: number[] = [];
  // The first round warms the file cache and is not counted.
  for (let round = 0; round <= ROUNDS; round++) {
    const home = mkdtempSync(join(tmpdir(), "spotter-cold-"));
    const env = { ...process.env, SPOTTER_HOME: home, SPOTTER_PORT: "0" };
    const result = await script(FIRST_TOKEN, env);
    const exitedAtMs = Date.now();
    const stop = await exec(process.execPath, [join(root, "dist/sdk/cli/bin.js"), "down"], {
      env,
      cwd: root,
    });
    if (result.code !== 0) throw new Error(`The cold-start script failed:\n${result.stderr}`);
    if (stop.code !== 0) throw new Error(`spotter down failed:\n${stop.stderr}`);
    rmSync(home, { recursive: true, force: true });
    const { firstTokenMs, lastAwaitAtMs } = lastJson<{ firstTokenMs: number; lastAwaitAtMs: number }>(
      result.stdout,
    );
    log(`round ${round}: first token after ${firstTokenMs.toFixed(0)} ms`);
    if (round === 0) continue;
    firstTokens.push(firstTokenMs);
    exits.push(exitedAtMs - lastAwaitAtMs);
  }
  const imports: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const { importMs } = lastJson<{ importMs: number }>((await script(IMPORT, process.env)).stdout);
    if (round > 0) imports.push(importMs);
  }
  return {
    firstTokenMs: median(firstTokens),
    importMs: median(imports),
    exitMs: median(exits),
    sdkGzipKb: (await bundleSdk()).gzipBytes / 1000,
  };
}

/** Runs a module inside the repository, so that "spotter" means the built package. */
async function script(source: string, env: NodeJS.ProcessEnv): ReturnType<typeof exec> {
  const file = join(root, "dist", `bench-${process.pid}.mjs`);
  writeFileSync(file, source);
  try {
    return await exec(process.execPath, [file], { env, cwd: root });
  } finally {
    rmSync(file, { force: true });
  }
}
