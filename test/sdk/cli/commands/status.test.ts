import { expect, it } from "vitest";
import { fakeServer } from "../../fake-server.ts";
import { runCli } from "../run-cli.ts";

const STATUS = { version: "1", home: "/h", startedAtMs: 0, activeRuns: 2, endpoints: 1, notes: [] };

it("tells how many runs have ended, and how", async () => {
  const runs = { running: 1, queued: 1, succeeded: 12, failed: 3 };
  const server = await fakeServer({ "GET /status": () => ({ ...STATUS, runs, archivedRuns: 4 }) });
  const { out } = await runCli("status", { url: server.url });
  expect(out).toContain("2 active, 12 succeeded, 3 failed, 0 cancelled, 4 archived\n");
});

it("tells what all that is alive costs", async () => {
  const spend = { usd: 0.004, gpuSeconds: 0, hourlyUsd: 0 };
  const server = await fakeServer({ "GET /status": () => ({ ...STATUS, spend }) });
  expect((await runCli("status", { url: server.url })).out).toContain(
    "spend      $0.0040 (all that is alive)\n",
  );
  const json = JSON.parse((await runCli("status --json", { url: server.url })).out) as unknown;
  expect(json).toMatchObject({ spend });
});
