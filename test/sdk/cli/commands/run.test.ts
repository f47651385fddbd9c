import { describe, expect, it } from "vitest";
import { fakeServer, sendError } from "../../fake-server.ts";
import { checkpointRecord, runDetailOf, runRecord } from "../../records.ts";
import { runCli } from "../run-cli.ts";

const events = [
  { seq: 1, atMs: 1_000, body: { type: "state", state: "running" } },
  { seq: 2, atMs: 2_000, body: { type: "phase", phase: "generate" } },
  {
    seq: 3,
    atMs: 3_000,
    body: { type: "metrics", step: 1, metrics: { "reward/mean": -2.5, tokens_per_s: 12_345 } },
  },
  { seq: 4, atMs: 4_000, body: { type: "metrics", step: 10, metrics: { "reward/mean": -1 } } },
  { seq: 5, atMs: 5_000, body: { type: "state", state: "succeeded" } },
];

function ended(over = {}) {
  return {
    "GET /runs/run1": () => runDetailOf({ state: "succeeded", ...over }),
    "GET /runs/run1/events": () => ({ events, next: 5, done: true }),
    "GET /runs/run1/checkpoints": () => ({ items: [checkpointRecord(10)] }),
  };
}

describe("spotter run", () => {
  it("lists newest first and shows one with its checkpoints", async () => {
    const { url, requests } = await fakeServer({
      ...ended({ metrics: { "reward/mean": -1 } }),
      "GET /runs": () => ({ items: [runRecord({ id: "run2", metrics: { "reward/mean": -1.234 } })] }),
    });
    expect((await runCli("run list --limit 3", { url })).out).toMatch(
      /run2 +running +3\/10 +-1\.23 +spotter\/nano/,
    );
    expect(requests[0]?.query).toEqual({ limit: "3" });
    const shown = (await runCli("run get run1", { url })).out;
    expect(shown).toContain("run1@10  /tmp/run1@10");
    expect(shown).toContain("reward/mean  -1");
    expect(JSON.parse((await runCli("run get run1 --json", { url })).out)).toMatchObject({
      run: { id: "run1" },
      checkpoints: [{ id: "run1@10" }],
    });
  });

  it("shows the figures that matter first, in four digits, and what mends a failure", async () => {
    const failure = { code: "reward_failed", message: "It threw.", hint: "Mend rewards.ts." };
    const metrics = { clip: 0.123456, loss: 2, tokens_per_s: 12345.6, "reward/mean": -1.23456 };
    const { url } = await fakeServer(ended({ state: "failed", failure, metrics }));
    const { out } = await runCli("run get run1", { url });
    expect(out).toContain("failure  It threw. [reward_failed]\nhint     Mend rewards.ts.\n");
    expect(out).toMatch(
      / {2}reward\/mean {3}-1\.235\n {2}loss {10}2\n {2}tokens_per_s {2}12346\n {2}clip {10}0\.1235\n/,
    );
  });

  it("says where else its metrics are, also before it is watched", async () => {
    const told = runDetailOf({ state: "succeeded" });
    const trackers = [
      { kind: "tensorboard", path: "/home/ana/runs" },
      { kind: "mlflow", url: "http://m:5000", experiment: "sums" },
      { kind: "wandb", url: "http://w", project: "sums", entity: "team", secret: "KEY" },
    ];
    const { url } = await fakeServer({
      ...ended(),
      "GET /runs/run1": () => ({ ...told, spec: { ...told.spec, trackers } }),
    });
    const lines = [
      "TensorBoard has its metrics in /home/ana/runs/run1: tensorboard --logdir /home/ana/runs",
      "MLflow at http://m:5000 has its metrics in the experiment sums",
      "W&B at http://w has its metrics in the project team/sums",
    ];
    for (const verb of ["get", "watch"])
      expect((await runCli(`run ${verb} run1`, { url })).out).toContain(lines.join("\n"));
    expect((await runCli("run watch run1 --json", { url })).out).not.toContain("TensorBoard");
  });

  it("shows what it has cost, in words and as JSON", async () => {
    const spend = { usd: 1.234, gpuSeconds: 4_416, hourlyUsd: 1.006 };
    const detail = runDetailOf({ state: "running", spend });
    const { url } = await fakeServer({ ...ended(), "GET /runs/run1": () => detail });
    const { out } = await runCli("run get run1", { url });
    expect(out).toContain("spend    $1.23 for 4,416 GPU-seconds, now $1.01 an hour\n");
    detail.spec.limits.maxCostUsd = 20;
    expect((await runCli("run get run1", { url })).out).toContain(
      "spend    $1.23 of at most $20.00 for 4,416 GPU",
    );
    const { run } = JSON.parse((await runCli("run get run1 --json", { url })).out) as { run: unknown };
    expect(run).toMatchObject({ spend });
  });

  it("means the newest where no id is given, and says so when there is none", async () => {
    const { url, requests } = await fakeServer({
      ...ended(),
      "GET /runs": () => ({ items: [runRecord({ id: "run1", state: "succeeded" })] }),
      "GET /runs/run1/logs": () => ({ lines: ["last words"] }),
    });
    expect((await runCli("run get", { url })).out).toContain("run1@10  /tmp/run1@10");
    expect((await runCli("run watch", { url })).out).toContain("step 10/10");
    expect((await runCli("run logs", { url })).out).toBe("last words\n");
    expect((await runCli("checkpoint list", { url })).out).toContain("run1@10");
    expect(requests[0]).toMatchObject({ path: "/runs", query: { limit: "1" } });
    const { url: empty } = await fakeServer({ "GET /runs": () => ({ items: [] }) });
    expect(await runCli("run watch", { url: empty })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/There are no runs yet.*npm run demo/s) as string,
    });
  });

  it("compares what runs were told, and what came of it", async () => {
    const other = runDetailOf({ id: "run2", name: "warmer", metrics: { "reward/mean": -1.23456 } });
    const { url } = await fakeServer({
      "GET /runs/run1": () => runDetailOf({ metrics: { "reward/mean": -2 } }),
      "GET /runs/run2": () => ({
        ...other,
        spec: { ...other.spec, rollout: { ...other.spec.rollout, temperature: 1.2 } },
      }),
    });
    const { out } = await runCli("run compare run1 run2", { url });
    expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["", "run1", "run2"],
      ["name", "warmer"],
      ["state", "running", "running"],
      ["step", "3/10", "3/10"],
      ["rollout.temperature", "1", "1.2"],
      ["reward/mean", "-2", "-1.235"],
      [""],
    ]);
    const json = await runCli("run compare run1 run2 --json", { url });
    expect(JSON.parse(json.out)).toMatchObject({
      runs: [{ id: "run1" }, { id: "run2" }],
      settings: [{ name: "rollout.temperature", values: [1, 1.2] }],
      metrics: [{ name: "reward/mean", values: [-2, -1.23456] }],
    });
    expect((await runCli("run compare run1 run1", { url })).out).toContain("They were told the same.");
    expect(await runCli("run compare run1", { url })).toMatchObject({ code: 2 });
  });

  it("watches to the end and says how to serve what came out", async () => {
    const { url } = await fakeServer(ended());
    const { code, out } = await runCli("run watch run1", { url });
    expect(code).toBe(0);
    expect(out).toContain("step 10/10  generate  reward -1.00  12,345 tok/s");
    expect(out).toContain("spotter endpoint launch spotter/nano --checkpoint run1@10");
    const lines = (await runCli("run watch run1 --json", { url })).out.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(events);
  });

  it("exits with 1 when the run failed", async () => {
    const failure = { code: "reward_failed", message: "boom" };
    const { url } = await fakeServer(ended({ state: "failed", failure }));
    const { code, err } = await runCli("run watch run1", { url });
    expect(code).toBe(1);
    expect(err).toContain("The run run1 failed: boom [reward_failed]");
  });

  it("says on Ctrl-C that the run goes on", async () => {
    const controller = new AbortController();
    const { url } = await fakeServer({
      ...ended(),
      "GET /runs/run1/events": () => {
        setTimeout(() => controller.abort(new Error("Interrupted.")), 5);
      },
    });
    const { code, err } = await runCli("run watch run1", { url, signal: controller.signal });
    expect(code).toBe(130);
    expect(err).toContain("run1 goes on. Look again: spotter run watch run1");
  });

  it("shows logs and cancels", async () => {
    const json = '{"ts":"2026-01-02T08:09:10.123Z","level":"warn","msg":"low"}';
    const { url, requests } = await fakeServer({
      ...ended(),
      "GET /runs/run1/logs": () => ({ lines: ["last words", json] }),
      "POST /runs/run1/cancel": () => runRecord(),
    });
    expect((await runCli("run logs run1", { url })).out).toBe(`last words\n${json}\n`);
    expect((await runCli("run logs run1", { url, isTerminal: true })).out).toBe(
      "last words\n08:09:10 warn  low\n",
    );
    expect((await runCli("run cancel run1", { url })).code).toBe(0);
    expect(requests.some(({ method, path }) => method === "POST" && path === "/runs/run1/cancel")).toBe(true);
  });

  it("pauses, resumes, tags, notes, archives and deletes", async () => {
    const record = { state: "paused" as const, tags: ["old"], notes: "Best so far" };
    const { url, requests } = await fakeServer({ "*": () => runDetailOf(record) });
    const lines = [
      ["run pause run1", "run1 is paused.\n", "POST /runs/run1/pause"],
      ["run resume run1", "run1 goes on; it is paused.\n", "POST /runs/run1/resume"],
      ["run tag run1 best", "old\n", 'PATCH /runs/run1 {"tags":["old","best"]}'],
      ["run tag run1 old --remove", "old\n", 'PATCH /runs/run1 {"tags":[]}'],
      ["run note run1 Good", "Best so far\n", 'PATCH /runs/run1 {"notes":"Good"}'],
      ["run archive run1", /archived/, 'PATCH /runs/run1 {"archived":true}'],
      ["run archive run1 --undo", /listed again/, 'PATCH /runs/run1 {"archived":false}'],
      ["run delete run1", "run1 is deleted.\n", "DELETE /runs/run1"],
    ] as const;
    for (const [line, expected, request] of lines) {
      requests.length = 0;
      const { code, out } = await runCli(line, { url });
      expect(code, line).toBe(0);
      if (typeof expected === "string") expect(out).toBe(expected);
      else expect(out).toMatch(expected);
      const asked = requests.find(({ method }) => method !== "GET");
      expect(`${asked?.method} ${asked?.path} ${asked?.body}`.trim()).toBe(request);
    }
    const { out } = await runCli("run delete run1 --json", { url });
    expect(JSON.parse(out)).toEqual({ deleted: "run1" });
    await runCli("run list --tag best --archived", { url });
    expect(requests.at(-1)?.query).toMatchObject({ tag: "best", archived: "true" });
  });

  it("passes on that there is no such run", async () => {
    const { url } = await fakeServer({
      "GET /runs/nope": (_, response) => sendError(response, 404, "not_found", "There is no run nope."),
    });
    for (const verb of ["get", "watch", "logs", "cancel", "pause", "resume", "tag", "archive", "delete"]) {
      expect((await runCli(`run ${verb} nope`, { url })).code, verb).toBe(2);
    }
  });
});
