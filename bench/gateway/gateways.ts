import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { DAEMON_FLAGS } from "../../sdk/local/node-program.ts";
import { exec } from "../figures.ts";
import { listens, start } from "./process.ts";

/** Something that takes chat requests, whatever stands between it and the engine. */
export interface Gateway {
  name: string;
  url: string;
  headers: Record<string, string>;
  pid: number;
  stop(): Promise<void>;
}

const CHAT = "/v1/chat/completions";
const peers = join(import.meta.dirname, "../peers");
const script = (name: string) => join(import.meta.dirname, name);

/** The engine itself, asked without anything in between. */
export async function startUpstream(): Promise<Gateway & { address: string; port: number }> {
  const started = start(process.execPath, [script("upstream.ts")]);
  const port = Number(await started.firstLine);
  return { ...named("direct", port, started), address: `127.0.0.1:${port}`, port };
}

/** `flags` go to Node, for profiles. */
export async function startOurs(
  upstream: string,
  flags: readonly string[] = [],
): Promise<Gateway & { port: number; adminKey: string }> {
  // Compiled, as users run it: types that are stripped at the start would leave their compiler in memory.
  const program = join(import.meta.dirname, "../../.cache/bench", `gateway-${process.pid}.mjs`);
  await build({
    entryPoints: [script("ours.ts")],
    outfile: program,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  const started = start(process.execPath, [...DAEMON_FLAGS, ...flags, program, upstream]);
  const line = JSON.parse(await started.firstLine) as { port: number; key: string; adminKey: string };
  rmSync(program);
  const headers = { authorization: `Bearer ${line.key}` };
  return { ...named("ours", line.port, started, headers), port: line.port, adminKey: line.adminKey };
}

/** nginx, from apt where it is missing. Undefined, with the reason in `notes`, where it cannot be had. */
export async function startNginx(
  upstream: string,
  log: (line: string) => void,
  notes: string[],
): Promise<Gateway | undefined> {
  if (!(await hasProgram("nginx", "nginx-light", log, notes))) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "spotter-bench-nginx-"));
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const config = readFileSync(join(peers, "nginx/nginx.conf"), "utf8")
    .replaceAll("%PORT%", String(port))
    .replaceAll("%UPSTREAM%", upstream)
    .replaceAll("%DIR%", folder);
  writeFileSync(join(folder, "nginx.conf"), config);
  const started = start("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")]);
  await Promise.race([listens(port), started.firstLine]);
  const nginx = named("nginx", port, started);
  return {
    ...nginx,
    async stop() {
      await nginx.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Portkey's gateway, installed where it is missing. Undefined, with the reason in `notes`, where that fails. */
export async function startPortkey(
  upstream: string,
  log: (line: string) => void,
  notes: string[],
): Promise<Gateway | undefined> {
  const cwd = join(peers, "portkey");
  if (!existsSync(join(cwd, "node_modules"))) {
    log("installing @portkey-ai/gateway (once)");
    const install = await exec("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd });
    if (install.code !== 0) {
      notes.push(`@portkey-ai/gateway: ${install.stderr.trim().split("\n").at(-1) ?? "npm ci failed"}`);
      return undefined;
    }
  }
  const port = await freePort();
  const server = join(cwd, "node_modules/@portkey-ai/gateway/build/start-server.js");
  const started = start(process.execPath, [server, "--headless", `--port=${port}`], { cwd });
  await Promise.race([listens(port), started.firstLine.then(() => listens(port))]);
  const headers = {
    authorization: "Bearer none",
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `http://${upstream}/v1`,
  };
  return named("portkey", port, started, headers);
}

/** Whether a program is there, after apt was asked for it. */
export async function hasProgram(
  program: string,
  aptPackage: string,
  log: (line: string) => void,
  notes: string[],
): Promise<boolean> {
  // Servers are in sbin, which not everybody's PATH has.
  process.env["PATH"] = [...new Set([...(process.env["PATH"] ?? "").split(":"), "/usr/sbin"])].join(":");
  const isThere = async () => (await exec("sh", ["-c", `command -v ${program}`])).code === 0;
  if (await isThere()) return true;
  log(`installing ${aptPackage} with apt (once)`);
  const install = await exec("apt-get", ["install", "-y", "-q", aptPackage]);
  if (await isThere()) return true;
  notes.push(`${program} from apt: ${install.stderr.trim().split("\n").at(-1) ?? "failed"}`);
  return false;
}

function named(
  name: string,
  port: number,
  started: ReturnType<typeof start>,
  headers: Record<string, string> = {},
): Gateway {
  const pid = started.child.pid ?? 0;
  const all = { "content-type": "application/json", ...headers };
  return { name, url: `http://127.0.0.1:${port}${CHAT}`, headers: all, pid, stop: () => started.stop() };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
