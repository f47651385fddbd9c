import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { ScalingSettings } from "../../../sdk/schema/scaling.ts";
import { gatewayKey } from "../../../functions/autoscaler/gateway-records.ts";
import { fakeJob } from "../../fakes/job.ts";
import { sharedWorld, type SharedPlane } from "../../fakes/shared-planes.ts";

const SLEEPER: ScalingSettings = {
  min: 0,
  max: 4,
  targetConcurrency: 2,
  idleTimeoutMs: 4_000,
  scaleDownWindowMs: 0,
};

/** Gateways that decide by turns, and a function that launches and stops what they decided. */
async function stack(count = 2, scaling: ScalingSettings = SLEEPER) {
  const world = sharedWorld(onTestFinished);
  const gateways: SharedPlane[] = [];
  for (let index = 0; index < count; index++) {
    const gateway = world.open();
    gateways.push(gateway);
    await gateway.control.fleet.join();
    await gateway.autoscaler.start();
  }
  const lambda = world.open({ readsAtUse: true });
  const reconcile = async () => {
    lambda.reconciler.wake();
    await lambda.reconciler.settle();
  };
  const get = () => lambda.json<Endpoint>("GET", "/endpoints/base");

  async function bringUp(): Promise<void> {
    for (const { jobId, state } of (await get()).replicas) {
      if (state === "ready" || state === "draining") continue;
      world.containers.set(jobId, { state: "running" });
      const job = fakeJob(lambda, jobId, Number(jobId.split("-").at(-1)));
      await job.heartbeat();
      await job.report({ type: "ready", address: `${jobId}:1` });
    }
    await reconcile();
  }

  /** Whoever is woken does what it has to do, and containers come up at once. */
  async function pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds * 10; passed++) {
      await world.pass(100);
      const wakes = [...gateways, lambda].flatMap((plane) => plane.wakes.splice(0));
      if (!wakes.includes("reconciler")) continue;
      await reconcile();
      await bringUp();
    }
  }

  await lambda.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base", scaling });
  await pass(1);
  return { world, gateways, lambda, get, pass, reconcile };
}

function scaledBy(plane: SharedPlane | undefined): string[] {
  const lines = plane?.told.filter(({ message }) => message === "endpoint scaled") ?? [];
  return lines.map(({ fields }) => `${String(fields["from"])} to ${String(fields["to"])}`);
}

function accept(plane: SharedPlane | undefined, count: number) {
  const tickets = Array.from({ length: count }, () => plane?.control.load.accept("base"));
  return {
    start: (jobId: string) => tickets.forEach((each) => each?.start(jobId)),
    end: () => tickets.forEach((each) => each?.end()),
  };
}

describe("several gateways", () => {
  it("have one that decides, also for the load of the others", async () => {
    const { gateways, get, pass } = await stack();
    const busy = accept(gateways[1], 40);
    await pass(10);
    expect(await get()).toMatchObject({ desired: 4 });
    expect(scaledBy(gateways[0])).not.toEqual([]);
    expect(scaledBy(gateways[1])).toEqual([]);
    busy.end();
    await pass(90);
    expect(await get()).toMatchObject({ desired: 0, replicas: [] });
    expect(scaledBy(gateways[1])).toEqual([]);
  });

  it("do not let an endpoint sleep that another one is asked for", async () => {
    const { gateways, get, pass } = await stack();
    for (let seconds = 0; seconds < 60; seconds += 3) {
      accept(gateways[1], 1).end();
      await pass(3);
    }
    expect(await get()).toMatchObject({ desired: 1 });
    await pass(90);
    expect(await get()).toMatchObject({ desired: 0 });
  });

  it("wake what sleeps within two seconds, whichever is asked, and once", async () => {
    const { world, gateways, get, pass } = await stack();
    await pass(90);
    expect(await get()).toMatchObject({ desired: 0, replicas: [] });
    const before = world.containers.launched.length;
    const waiting = accept(gateways[1], 3);
    await pass(2);
    expect(await get()).toMatchObject({ desired: 1, replicas: [{ state: "ready" }] });
    expect(world.containers.launched).toHaveLength(before + 1);
    waiting.end();
  });

  it("go on within ten seconds after the one that decides was killed", async () => {
    const { gateways, get, pass } = await stack();
    gateways[0]?.kill();
    const busy = accept(gateways[1], 40);
    await pass(16);
    expect(await get()).toMatchObject({ desired: 4 });
    expect(scaledBy(gateways[1])).not.toEqual([]);
    busy.end();
  });

  it("go on at once after the one that decides was told to end", async () => {
    const { gateways, get, pass } = await stack();
    await gateways[0]?.close();
    const busy = accept(gateways[1], 40);
    await pass(6);
    expect((await get()).desired).toBeGreaterThan(1);
    busy.end();
  });

  it("never decide at the same time, and not without the Store", async () => {
    const { gateways, pass } = await stack();
    const [one, other] = gateways as [SharedPlane, SharedPlane];
    for (let round = 0; round < 6; round++) {
      const [deciding, next] = round % 2 === 0 ? [one, other] : [other, one];
      const busy = accept(deciding, 10 * (1 + (round % 3)));
      deciding.setAway(true);
      deciding.setSkewMs(round * 777);
      await pass(15);
      const before = scaledBy(deciding).length;
      deciding.setAway(false);
      await pass(10);
      busy.end();
      await pass(50);
      expect(scaledBy(deciding).length).toBe(before);
      expect(scaledBy(next).length).toBeGreaterThan(0);
    }
  });
});

describe("a gateway that is not heard of", () => {
  it("keeps its replicas as long as it may be busy, and no longer", async () => {
    const { gateways, get, pass } = await stack();
    const busy = accept(gateways[1], 8);
    await pass(10);
    expect(await get()).toMatchObject({ desired: 4 });
    gateways[1]?.setAway(true);
    busy.end();
    await pass(50);
    expect(await get()).toMatchObject({ desired: 4 });
    await pass(120);
    expect(await get()).toMatchObject({ desired: 0 });
    expect((await gateways[0]?.control.store.query("gateways"))?.items).toHaveLength(1);
    gateways[1]?.setAway(false);
    await pass(10);
    expect(gateways[0]?.control.fleet.size).toBe(2);
  });

  it("may have got work since it was heard of, so nothing goes", async () => {
    const { gateways, get, pass } = await stack();
    gateways[1]?.setAway(true);
    await pass(50);
    expect(await get()).toMatchObject({ desired: 1 });
    await pass(60);
    expect(await get()).toMatchObject({ desired: 0 });
  });

  it("does not keep others from getting more", async () => {
    const { gateways, get, pass } = await stack();
    await pass(4);
    gateways[1]?.kill();
    await pass(8);
    const busy = accept(gateways[0], 40);
    await pass(10);
    expect(await get()).toMatchObject({ desired: 4 });
    busy.end();
  });
});

describe("a replica that drains", () => {
  const FIXED: ScalingSettings = { min: 2, max: 2, targetConcurrency: 2 };

  it("is not stopped while another gateway's request is on it, and is right after", async () => {
    const { world, lambda, gateways, get, pass } = await stack(2, FIXED);
    const replicas = (await get()).replicas.map(({ jobId }) => jobId);
    const working = replicas.map((jobId) => {
      const ticket = accept(gateways[1], 1);
      ticket.start(jobId);
      return { jobId, ticket };
    });
    await pass(3);
    await lambda.json("PATCH", "/endpoints/base", { scaling: { min: 1, max: 1 } });
    await pass(60);
    const draining = (await get()).replicas.find(({ state }) => state === "draining")?.jobId;
    expect(draining).toBeDefined();
    expect(world.containers.stopped).toEqual([]);
    working.find(({ jobId }) => jobId === draining)?.ticket.end();
    await pass(2);
    expect(world.containers.stopped).toEqual([draining]);
  });

  it("is not stopped before every gateway knows that it takes no more", async () => {
    const { world, lambda, gateways, get, pass, reconcile } = await stack(2, FIXED);
    await pass(3);
    await lambda.json("PATCH", "/endpoints/base", { scaling: { min: 1, max: 1 } });
    // One of them does not hear of it, and may give it a request at any time.
    gateways[1]?.setAway(true);
    for (let seconds = 0; seconds < 30; seconds++) {
      await pass(1);
      await reconcile();
    }
    expect((await get()).replicas.map(({ state }) => state).sort()).toEqual(["draining", "ready"]);
    expect(world.containers.stopped).toEqual([]);
    gateways[1]?.setAway(false);
    await pass(4);
    expect(world.containers.stopped).toHaveLength(1);
  });

  it("is stopped right after the gateway has left that worked with it", async () => {
    const { world, lambda, gateways, get, pass } = await stack(2, FIXED);
    for (const { jobId } of (await get()).replicas) accept(gateways[1], 1).start(jobId);
    await pass(3);
    await lambda.json("PATCH", "/endpoints/base", { scaling: { min: 1, max: 1 } });
    await pass(20);
    expect(world.containers.stopped).toEqual([]);
    await gateways[1]?.close();
    await pass(1);
    expect(world.containers.stopped).toHaveLength(1);
  });

  it("is not kept by the record of a gateway that was killed long ago", async () => {
    const { world, lambda, get, pass, reconcile } = await stack(0, FIXED);
    const record = {
      v: 1,
      id: "old",
      heartbeatAtMs: world.clock.now(),
      load: {},
      inFlight: {},
      draining: [],
    };
    await world.store.put(gatewayKey("old"), record);
    await lambda.json("PATCH", "/endpoints/base", { scaling: { min: 1, max: 1 } });
    await pass(60);
    await reconcile();
    expect((await get()).replicas).toHaveLength(2);
    await pass(260);
    await reconcile();
    await reconcile();
    expect((await get()).replicas).toHaveLength(1);
  });
});
