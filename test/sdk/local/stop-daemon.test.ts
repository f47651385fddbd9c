import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import { main } from "../../../sdk/cli/main.ts";
import { Run } from "../../../sdk/run.ts";
import { Client } from "../../../sdk/client.ts";
import { findDaemon } from "../../../sdk/local/find-daemon.ts";
import { packageVersion } from "../../../sdk/local/home.ts";
import { startDaemon } from "../../../sdk/local/start-daemon.ts";
import { stopDaemon } from "../../../sdk/local/stop-daemon.ts";
import { runDetailOf } from "../records.ts";

const program = fileURLToPath(new URL("../../fixtures/sdk/daemon.ts", import.meta.url));

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "spotter-stop-"));
  vi.stubEnv("SPOTTER_HOME", home);
  vi.stubEnv("SPOTTER_URL", "");
  onTestFinished(async () => {
    const daemon = await findDaemon(home);
    if (daemon) await stopDaemon(daemon);
    rmSync(home, { recursive: true, force: true });
    vi.unstubAllEnvs();
  });
  return home;
}

it("is done when that process is gone, whoever came up meanwhile", async () => {
  const home = newHome();
  const first = await startDaemon({ home, program });
  const stopping = stopDaemon(first);
  await vi.waitFor(async () => expect(await findDaemon(home)).toBeUndefined(), { interval: 5 });
  const second = await startDaemon({ home, program });
  await stopping;
  expect((await findDaemon(home))?.pid).toBe(second.pid);
});

it("ends a script that waits for a run when `spotter down` stops its daemon", async () => {
  const home = newHome();
  vi.stubEnv("FAKE_VERSION", packageVersion());
  vi.stubEnv("FAKE_RUNS", "1");
  await startDaemon({ home, program });
  const client = new Client({ retryDelayMs: 1 });
  const waiting = new Run(client, runDetailOf()).events().next();
  const failed = expect(waiting).rejects.toMatchObject({
    code: "daemon_unreachable",
    message: "The daemon was stopped by `spotter down`.",
  });
  await client.connection();
  const out = new PassThrough();
  expect(await main(["down"], { out })).toBe(0);
  expect(String(out.read())).toMatch(
    /^Stopping the daemon at .* … \(1 training, 0 endpoints\)\nStopped\.\n$/,
  );
  await failed;
  expect(await findDaemon(home)).toBeUndefined();
});
