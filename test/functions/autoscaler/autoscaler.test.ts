import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { ScalingSettings } from "../../../sdk/schema/scaling.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, type FakeJob } from "../../fakes/job.ts";

const SLEEPER: ScalingSettings = { min: 0, max: 4, targetConcurrency: 2, idleTimeoutMs: 4_000 };

async function launch(plane: TestPlane, scaling: ScalingSettings): Promise<string> {
  const body = { model: { name: "spotter/nano" }, name: "base", scaling };
  const { name } = await plane.json<Endpoint>("POST", "/endpoints", body);
  await settled(plane);
  return name;
}

async function get(plane: TestPlane, name: string): Promise<Endpoint> {
  return plane.json<Endpoint>("GET", `/endpoints/${name}`);
}

async function settled(plane: TestPlane): Promise<void> {
  await plane.autoscaler.settle();
  await plane.reconciler.settle();
}

/** Everything that starts becomes ready, and what is ready goes on beating. */
async function beat(plane: TestPlane, name: string): Promise<FakeJob[]> {
  const { replicas } = await get(plane, name);
  const jobs = replicas.map(({ jobId }) => fakeJob(plane, jobId, Number(jobId.split("-").at(-1))));
  for (const [index, job] of jobs.entries()) {
    await job.heartbeat();
    if (replicas[index]?.state !== "ready" && replicas[index]?.state !== "draining")
      await job.report({ type: "ready", address: `${job.id}:1` });
  }
  await settled(plane);
  return jobs;
}

async function pass(plane: TestPlane, name: string, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 2) {
    plane.clock.advance(2_000);
    await settled(plane);
    await beat(plane, name);
  }
}

describe("an endpoint that may sleep", () => {
  it("comes up awake, sleeps after its idle timeout, and is ready all the time", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const name = await launch(plane, SLEEPER);
    await beat(plane, name);
    expect(await get(plane, name)).toMatchObject({
      state: "ready",
      desired: 1,
      replicas: [{ state: "ready" }],
    });
    await pass(plane, name, 4);
    expect(await get(plane, name)).toMatchObject({ desired: 1 });
    await pass(plane, name, 4);
    expect(await get(plane, name)).toMatchObject({ state: "ready", desired: 0, replicas: [] });
    expect(plane.complaints).toEqual([]);
  });

  it("does not go to sleep before it came up, nor right after", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const name = await launch(plane, SLEEPER);
    for (let second = 0; second < 8; second += 2) {
      plane.clock.advance(2_000);
      await settled(plane);
    }
    expect(await get(plane, name)).toMatchObject({ state: "creating", desired: 1 });
    await beat(plane, name);
    await pass(plane, name, 4);
    expect(await get(plane, name)).toMatchObject({ state: "ready", desired: 1 });
    await pass(plane, name, 4);
    expect(await get(plane, name)).toMatchObject({ state: "ready", desired: 0 });
  });

  it("is woken once by many who wait, at once (7)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const name = await launch(plane, { ...SLEEPER, max: 1 });
    await beat(plane, name);
    await pass(plane, name, 10);
    expect(await get(plane, name)).toMatchObject({ desired: 0, replicas: [] });
    const before = plane.containers.launched.length;
    const tickets = Array.from({ length: 200 }, () => plane.control.load.accept(name));
    await settled(plane);
    expect(plane.containers.launched).toHaveLength(before + 1);
    await pass(plane, name, 4);
    expect(plane.containers.launched).toHaveLength(before + 1);
    for (const ticket of tickets) ticket.end();
  });

  it("grows with its load and never above its maximum", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const name = await launch(plane, SLEEPER);
    await beat(plane, name);
    const tickets = Array.from({ length: 40 }, () => plane.control.load.accept(name));
    await pass(plane, name, 8);
    expect(await get(plane, name)).toMatchObject({ desired: 4 });
    expect((await get(plane, name)).replicas).toHaveLength(4);
    for (const ticket of tickets) ticket.end();
  });

  it("stops no replica that works on a request, and stops it right after", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const name = await launch(plane, { ...SLEEPER, min: 1, max: 2, scaleDownWindowMs: 0 });
    await plane.json("PATCH", `/endpoints/${name}`, { scaling: { min: 2 } });
    await settled(plane);
    const jobs = await beat(plane, name);
    const tickets = jobs.map((job) => {
      const ticket = plane.control.load.accept(name);
      ticket.start(job.id);
      return ticket;
    });
    await plane.json("PATCH", `/endpoints/${name}`, { scaling: { min: 1, max: 1 } });
    await settled(plane);
    await pass(plane, name, 20);
    const { replicas } = await get(plane, name);
    expect(replicas.map(({ state }) => state).sort()).toEqual(["draining", "ready"]);
    expect(plane.containers.stopped).toEqual([]);
    const draining = replicas.find(({ state }) => state === "draining")?.jobId ?? "";
    tickets[jobs.findIndex(({ id }) => id === draining)]?.end();
    await settled(plane);
    expect(plane.containers.stopped).toEqual([draining]);
    expect((await get(plane, name)).replicas).toMatchObject([{ state: "ready" }]);
    for (const ticket of tickets) ticket.end();
  });

  it("holds what it has after a restart of the control plane", async () => {
    const first = await testPlane({ onEnd: onTestFinished });
    const name = await launch(first, { ...SLEEPER, scaleDownWindowMs: 60_000, idleTimeoutMs: 120_000 });
    await beat(first, name);
    const tickets = Array.from({ length: 8 }, () => first.control.load.accept(name));
    await pass(first, name, 6);
    expect(await get(first, name)).toMatchObject({ desired: 4 });
    for (const ticket of tickets) ticket.end();
    const plane = await first.restart();
    await plane.autoscaler.start();
    await pass(plane, name, 58);
    expect(await get(plane, name)).toMatchObject({ desired: 4 });
    await pass(plane, name, 10);
    expect((await get(plane, name)).desired).toBeLessThan(4);
  });

  it("is woken by who launches it again, too", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const name = await launch(plane, SLEEPER);
    await beat(plane, name);
    await pass(plane, name, 10);
    expect(await get(plane, name)).toMatchObject({ desired: 0, replicas: [] });
    await launch(plane, {});
    expect(await get(plane, name)).toMatchObject({ desired: 1, scaling: { min: 0 }, replicas: [{}] });
  });

  it("keeps its number of replicas when another checkpoint takes its place (20)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const name = await launch(plane, { ...SLEEPER, scaleDownWindowMs: 60_000 });
    await beat(plane, name);
    const tickets = Array.from({ length: 6 }, () => plane.control.load.accept(name));
    await pass(plane, name, 8);
    const { desired } = await get(plane, name);
    expect(desired).toBeGreaterThanOrEqual(3);
    const body = { model: { name: "spotter/nano" }, name, recreate: true };
    await plane.json("POST", "/endpoints", body);
    await settled(plane);
    const { replicas, revision } = await get(plane, name);
    expect([revision, replicas.length]).toEqual([2, 2 * desired]);
    expect(replicas.filter(({ state }) => state === "ready")).toHaveLength(desired);
    for (const ticket of tickets) ticket.end();
  });

  it("fails with its reason when it cannot start, and tries no more (11)", async () => {
    const plane = await testPlane({
      onEnd: onTestFinished,
      firstState: { state: "exited", exitCode: 1, reason: "error", logTail: ["no GPU"] },
    });
    const name = await launch(plane, SLEEPER);
    const ticket = plane.control.load.accept(name);
    await pass(plane, name, 30);
    expect(await get(plane, name)).toMatchObject({
      state: "failed",
      desired: 0,
      replicas: [],
      failure: { code: "container_failed" },
    });
    expect(plane.containers.launched).toHaveLength(3);
    await pass(plane, name, 10);
    expect(plane.containers.launched).toHaveLength(3);
    ticket.end();
  });
});

describe("an endpoint of fixed size", () => {
  it("has one replica by default, and no timer", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const before = plane.clock.pending;
    const name = await launch(plane, {});
    expect(await get(plane, name)).toMatchObject({
      desired: 1,
      scaling: { min: 1, max: 1, queueLimit: 3_200 },
    });
    await beat(plane, name);
    expect(plane.clock.pending).toBeLessThanOrEqual(before + 1);
  });

  it("changes live, upwards and downwards", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const name = await launch(plane, { min: 3 });
    await beat(plane, name);
    expect((await get(plane, name)).replicas).toHaveLength(3);
    await plane.json("PATCH", `/endpoints/${name}`, { scaling: { min: 1, max: 2 } });
    await settled(plane);
    await settled(plane);
    expect((await get(plane, name)).replicas).toHaveLength(2);
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name, scaling: { min: 2 } });
    expect(await get(plane, name)).toMatchObject({ desired: 2, revision: 1, scaling: { min: 2, max: 2 } });
  });

  it("refuses a minimum above the maximum, and keys that nobody reads", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const name = await launch(plane, {});
    const above = await plane.call("PATCH", `/endpoints/${name}`, { scaling: { min: 5, max: 2 } });
    expect(above.status).toBe(400);
    expect(await above.json()).toMatchObject({ error: { code: "invalid_input" } });
    const unknown = await plane.call("PATCH", `/endpoints/${name}`, { scaling: { minimum: 5 } });
    expect(unknown.status).toBe(400);
    expect(await get(plane, name)).toMatchObject({ desired: 1 });
  });
});
