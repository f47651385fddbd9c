import { describe, expect, it, onTestFinished } from "vitest";
import type { Alias } from "../../../sdk/schema/alias.ts";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import { endpointKey } from "../../../functions/endpoints/records.ts";
import { sharedWorld, type SharedPlane } from "../../fakes/shared-planes.ts";

const LAUNCH = { model: { name: "spotter/nano" }, name: "base" };

/** What a gateway does for each chat before a replica is asked for. */
async function lookUp(plane: SharedPlane, name: string): Promise<Endpoint | undefined> {
  await plane.control.routes.load();
  return plane.control.routes.find(name);
}

async function findAlias(plane: SharedPlane, name: string): Promise<Alias | undefined> {
  await plane.control.aliases.load();
  return plane.control.aliases.find(name);
}

describe("endpoints and aliases that other processes change", () => {
  it("are known in a gateway within two seconds, and no chat waits for the Store", async () => {
    const world = sharedWorld(onTestFinished);
    const [gateway, other] = [world.open(), world.open()];
    expect(await lookUp(gateway, "base")).toBeUndefined();
    expect(await findAlias(gateway, "best")).toBeUndefined();
    await other.json("POST", "/endpoints", LAUNCH);
    await other.json("PUT", "/aliases/best", { targets: [{ model: "base", weight: 1 }] });
    await world.pass(2_000);
    const before = gateway.storeCalls();
    expect(await lookUp(gateway, "base")).toMatchObject({ name: "base", desired: 1 });
    expect(await findAlias(gateway, "best")).toMatchObject({ targets: [{ model: "base" }] });
    expect(gateway.storeCalls()).toBe(before);
    await other.json("DELETE", "/endpoints/base");
    await other.call("DELETE", "/aliases/best");
    await world.pass(2_000);
    expect(await lookUp(gateway, "base")).toMatchObject({ state: "stopping" });
    expect(await findAlias(gateway, "best")).toBeUndefined();
  });

  it("are gone when their record is, and new again from version 1 on", async () => {
    const world = sharedWorld(onTestFinished);
    const [gateway, other] = [world.open(), world.open()];
    for (let times = 0; times < 3; times++) {
      await other.json("POST", "/endpoints", LAUNCH);
      await other.json("PATCH", "/endpoints/base", { scaling: { max: 2 + times } });
    }
    await lookUp(gateway, "base");
    const told: string[] = [];
    gateway.control.routes.onChange(({ name, state, desired }) => told.push(`${name} ${state} ${desired}`));
    const document = await world.store.get<object>(endpointKey("base"));
    await world.store.delete(endpointKey("base"));
    await world.pass(2_000);
    expect(await lookUp(gateway, "base")).toBeUndefined();
    await world.store.put(endpointKey("base"), document?.value);
    await world.pass(2_000);
    expect(await lookUp(gateway, "base")).toMatchObject({ name: "base" });
    expect(told).toEqual(["base stopped 0", "base creating 1"]);
    // Deleted and made again between two looks, so that only its version is older.
    await world.store.put(endpointKey("base"), document?.value);
    await world.pass(2_000);
    await world.store.delete(endpointKey("base"));
    await world.store.put(endpointKey("base"), document?.value);
    await world.pass(2_000);
    expect(told).toHaveLength(4);
  });

  it("are not taken back to what a slow look found", async () => {
    const world = sharedWorld(onTestFinished);
    const gateway = world.open();
    await gateway.json("POST", "/endpoints", LAUNCH);
    const query = world.store.query.bind(world.store);
    const release = Promise.withResolvers<undefined>();
    world.store.query = async (...args) => {
      const page = await query(...args);
      if (args[0] === "endpoints") await release.promise;
      return page as never;
    };
    await world.pass(1_100);
    await gateway.json("PATCH", "/endpoints/base", { scaling: { max: 7 } });
    release.resolve(undefined);
    await world.pass(100);
    expect(await lookUp(gateway, "base")).toMatchObject({ scaling: { max: 7 } });
  });

  it("serve as they were known while the Store is away", async () => {
    const world = sharedWorld(onTestFinished);
    const gateway = world.open();
    await gateway.json("POST", "/endpoints", LAUNCH);
    await lookUp(gateway, "base");
    gateway.setAway(true);
    await world.pass(30_000);
    expect(await lookUp(gateway, "base")).toMatchObject({ name: "base" });
    expect(gateway.complaints.filter((line) => line.startsWith("records could not"))).toHaveLength(2);
    gateway.setAway(false);
    await world.store.delete(endpointKey("base"));
    await world.pass(2_000);
    expect(await lookUp(gateway, "base")).toBeUndefined();
  });

  it("are read before they are believed after a long pause, in which nothing was read", async () => {
    const world = sharedWorld(onTestFinished);
    const [gateway, other] = [world.open(), world.open()];
    await lookUp(gateway, "base");
    await world.pass(610_000);
    const before = gateway.storeCalls();
    await world.pass(60_000);
    expect(gateway.storeCalls()).toBe(before);
    await other.json("POST", "/endpoints", LAUNCH);
    expect(await lookUp(gateway, "base")).toMatchObject({ name: "base" });
  });

  it("are read at each use in a function", async () => {
    const world = sharedWorld(onTestFinished);
    const [lambda, other] = [world.open({ readsAtUse: true }), world.open({ readsAtUse: true })];
    expect(await lookUp(lambda, "base")).toBeUndefined();
    await other.json("POST", "/endpoints", LAUNCH);
    expect(await lookUp(lambda, "base")).toMatchObject({ name: "base" });
    await other.json("PUT", "/aliases/best", { targets: [{ model: "base", weight: 1 }] });
    expect(await findAlias(lambda, "best")).toBeDefined();
    await other.call("DELETE", "/aliases/best");
    expect(await findAlias(lambda, "best")).toBeUndefined();
  });

  it("let who waits for an endpoint hear what another process did to it", async () => {
    const world = sharedWorld(onTestFinished);
    const [gateway, other] = [world.open(), world.open()];
    await other.json("POST", "/endpoints", LAUNCH);
    const endpoint = await lookUp(gateway, "base");
    const turnedAway = new Promise<string>((resolve) => {
      const visitor = {
        affinity: () => 0,
        admitted: () => {},
        turnedAway: (error: Error) => resolve(error.message),
      };
      if (endpoint !== undefined) gateway.control.slots.enter(endpoint, visitor);
    });
    await other.json("DELETE", "/endpoints/base");
    await world.pass(2_000);
    expect(await turnedAway).toContain("is stopping");
    expect(gateway.wakes).toContain("reconciler");
  });
});

describe("the latest checkpoint of a run", () => {
  it("is the new one within two seconds, without a call of the Store while it is asked for", async () => {
    const world = sharedWorld(onTestFinished);
    const gateway = world.open();
    const put = (step: number) =>
      world.store.put(
        { partition: "checkpoints/r", sort: String(step) },
        { v: 1, id: `r@${step}`, files: [{ path: "model/w" }] },
      );
    await put(1);
    const { routes } = gateway.control;
    await routes.load();
    expect(await routes.latestCheckpoint("r")).toBe("r@1");
    await put(2);
    for (let seconds = 0; seconds < 2; seconds++) {
      await world.pass(1_000);
      const before = gateway.storeCalls();
      await routes.latestCheckpoint("r");
      expect(gateway.storeCalls()).toBe(before);
    }
    expect(await routes.latestCheckpoint("r")).toBe("r@2");
  });
});
