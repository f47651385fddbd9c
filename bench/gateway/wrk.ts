import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exec } from "../figures.ts";
import { ASK } from "./fixed.ts";
import type { Gateway } from "./gateways.ts";
import { cpuSeconds } from "./process.ts";

export interface Load {
  requestsPerS: number;
  p50Ms: number;
  p99Ms: number;
  /** Of the gateway's processes, by request. */
  cpuUs: number | undefined;
}

/** Sends JSON requests over `connections` for `seconds`, with wrk. Any answer but a 200 is an error. */
export async function wrk(gateway: Gateway, connections: number, seconds: number): Promise<Load> {
  const folder = mkdtempSync(join(tmpdir(), "spotter-bench-wrk-"));
  const lua = join(folder, "ask.lua");
  writeFileSync(lua, script(gateway.headers));
  const before = cpuSeconds(gateway.pid);
  const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s", "-s", lua, gateway.url];
  const result = await exec("wrk", args);
  const after = cpuSeconds(gateway.pid);
  rmSync(folder, { recursive: true, force: true });
  const line = /^RESULT (.*)$/m.exec(result.stdout)?.[1];
  if (result.code !== 0 || line === undefined)
    throw new Error(`wrk failed: ${result.stderr}${result.stdout}`);
  const [requests = 0, durationUs = 1, p50Us = 0, p99Us = 0, errors = 0] = line.split(" ").map(Number);
  if (errors > 0) throw new Error(`${gateway.name}: ${errors} of ${requests} requests failed`);
  const cpuUs = before === undefined || after === undefined ? undefined : ((after - before) * 1e6) / requests;
  return { requestsPerS: (requests * 1e6) / durationUs, p50Ms: p50Us / 1000, p99Ms: p99Us / 1000, cpuUs };
}

function script(headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `wrk.headers["${name}"] = "${value}"`);
  return `wrk.method = "POST"
wrk.body = [==[${ASK}]==]
${lines.join("\n")}
done = function(summary, latency)
  local e = summary.errors
  local failed = e.connect + e.read + e.write + e.status + e.timeout
  print(string.format("RESULT %d %d %.0f %.0f %d", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), failed))
end
`;
}
