import { describe, expect, it, onTestFinished } from "vitest";
import type { CreatedKey } from "../../../sdk/schema/key.ts";
import { MAX_ENDPOINTS } from "../../../functions/observability/request-metrics.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";

async function scrape(plane: TestPlane): Promise<Map<string, number>> {
  const response = await plane.call("GET", "/metrics");
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

function chat(plane: TestPlane, endpoint: string, requestId = "r") {
  const seen = plane.control.observer.begin({ requestId, route: "/v1/chat/completions" });
  seen.endpoint(endpoint);
  return seen;
}

describe("GET /metrics", () => {
  it("needs a key of scope admin", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { key } = await plane.json<CreatedKey>("POST", "/keys", { name: "w", scope: "write" });
    expect((await plane.call("GET", "/metrics", undefined, null)).status).toBe(401);
    expect((await plane.call("GET", "/metrics", undefined, key)).status).toBe(403);
  });

  it("counts requests by route, endpoint and status, with times in seconds", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const seen = chat(plane, "base");
    seen.queued();
    plane.clock.advance(3_000);
    seen.admitted({ replica: "serve-base-r1-1", coldStart: true });
    plane.clock.advance(500);
    seen.firstByte();
    plane.clock.advance(1_500);
    seen.tokens({ input: 12, output: 40, cached: 8 });
    seen.end(200);
    chat(plane, "base").end(499);
    const metrics = await scrape(plane);
    const label = '{method="POST",route="/v1/chat/completions",endpoint="base"';
    expect(metrics.get(`spotter_requests_total${label},status="200"}`)).toBe(1);
    expect(metrics.get(`spotter_requests_total${label},status="499"}`)).toBe(1);
    expect(metrics.get(`spotter_request_duration_seconds_sum${label}}`)).toBe(5);
    expect(metrics.get(`spotter_request_duration_seconds_count${label}}`)).toBe(2);
    expect(metrics.get('spotter_time_to_first_token_seconds_sum{endpoint="base"}')).toBe(3.5);
    expect(metrics.get('spotter_time_to_first_token_seconds_count{endpoint="base"}')).toBe(1);
    expect(metrics.get('spotter_request_queue_time_seconds_sum{endpoint="base"}')).toBe(3);
    expect(metrics.get('spotter_cold_start_requests_total{endpoint="base"}')).toBe(1);
    expect(metrics.get('spotter_prompt_tokens_total{endpoint="base"}')).toBe(12);
    expect(metrics.get('spotter_prompt_tokens_cached_total{endpoint="base"}')).toBe(8);
    expect(metrics.get('spotter_generation_tokens_total{endpoint="base"}')).toBe(40);
  });

  it("shows what runs and waits now, replicas by state, isolates and the process", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
    await plane.reconciler.settle();
    const running = plane.control.load.accept("base");
    running.start("serve-base-r1-1");
    plane.control.load.accept("base");
    const metrics = await scrape(plane);
    expect(metrics.get('spotter_requests_in_flight{endpoint="base"}')).toBe(1);
    expect(metrics.get('spotter_requests_queued{endpoint="base"}')).toBe(1);
    expect(metrics.get('spotter_replicas_desired{endpoint="base"}')).toBe(1);
    const states = ["waiting", "starting", "loading", "ready", "draining"];
    const replicas = states.map((state) => metrics.get(`spotter_replicas{endpoint="base",state="${state}"}`));
    expect(replicas.every((count) => count !== undefined)).toBe(true);
    expect(replicas.reduce((sum = 0, count = 0) => sum + count, 0)).toBe(1);
    expect(metrics.get("spotter_isolates")).toBe(0);
    expect(metrics.get('spotter_build_info{version="0.0.0-test"}')).toBe(1);
    expect(metrics.get("process_resident_memory_bytes")).toBeGreaterThan(1e6);
    expect(metrics.get("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThanOrEqual(0);
  });

  it("counts a run's steps, each once", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    await job.report({ type: "run", event: { type: "metrics", step: 2, metrics: { loss: 1 } } });
    await job.report({ type: "run", event: { type: "metrics", step: 2, metrics: { kl: 1 } } });
    await job.report({ type: "run", event: { type: "metrics", step: 5, metrics: { loss: 1 } } });
    expect((await scrape(plane)).get('spotter_run_steps_total{kind="rl"}')).toBe(5);
  });

  it("keeps the number of series bounded: patterns for paths, a limit for names, nothing a client sent", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    for (let i = 0; i < MAX_ENDPOINTS + 50; i++) chat(plane, `endpoint-${i}`).end(200);
    for (const path of ["/runs/run-a", "/runs/run-b", "/nowhere-1", "/nowhere-2", "/v1/nowhere"])
      await plane.call("GET", path);
    await plane.call("POST", "/v1/chat/completions", {
      model: "guessed-name",
      messages: [{ role: "user", content: "hi" }],
    });
    const metrics = await scrape(plane);
    const names = [...metrics.keys()].filter((name) => name.startsWith("spotter_requests_total"));
    expect(names.join("\n")).not.toMatch(/run-a|nowhere|guessed-name/);
    expect(
      metrics.get('spotter_requests_total{method="GET",route="/runs/:id",endpoint="",status="404"}'),
    ).toBe(2);
    expect(metrics.get('spotter_requests_total{method="GET",route="unknown",endpoint="",status="404"}')).toBe(
      3,
    );
    const other = '{method="POST",route="/v1/chat/completions",endpoint="other",status="200"}';
    expect(metrics.get(`spotter_requests_total${other}`)).toBe(50);
    expect(names.length).toBeLessThan(MAX_ENDPOINTS + 10);
  });
});
