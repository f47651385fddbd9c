import { describe, expect, it, onTestFinished } from "vitest";
import type { CreatedKey } from "../../../sdk/schema/key.ts";
import { changeJob, fenceJob, jobKey, type JobRecord } from "../../../functions/jobs/records.ts";
import { newJobToken } from "../../../functions/jobs/tokens.ts";
import { sharedWorld, type SharedPlane, type SharedWorld } from "../../fakes/shared-planes.ts";

async function newKey(plane: SharedPlane, limits?: object): Promise<CreatedKey> {
  return plane.json("POST", "/keys", { name: "web", scope: "write", ...(limits && { limits }) });
}

/** Lets requests in until the key has nothing left. */
async function spend(plane: SharedPlane, key: string): Promise<number> {
  const holder = await plane.control.keys.find(key);
  for (let count = 0; ; count++) {
    try {
      if (holder === undefined) return count;
      const { meter } = await plane.control.limits.admit(holder, 4);
      meter({ promptTokens: 1, completionTokens: 9 });
    } catch {
      return count;
    }
  }
}

async function gateways(world: SharedWorld, count: number): Promise<SharedPlane[]> {
  const planes = Array.from({ length: count }, () => world.open());
  for (const plane of planes) await plane.control.fleet.join();
  await world.pass(2_000);
  return planes;
}

describe("a key that another process changes", () => {
  it("is refused within two seconds after it was revoked, also while it is used all the time", async () => {
    const world = sharedWorld(onTestFinished);
    const [one, other] = [world.open(), world.open()];
    const { key, record } = await newKey(one);
    const ask = async () => (await one.call("GET", "/endpoints", undefined, key)).status;
    expect(await ask()).toBe(200);
    await other.json("DELETE", `/keys/${record.id}`);
    const statuses: number[] = [];
    for (let passed = 0; passed < 2_000; passed += 250) {
      await world.pass(250);
      statuses.push(await ask());
    }
    await world.pass(100);
    expect(await ask()).toBe(401);
    expect(statuses[0]).toBe(200);
  });

  it("is good while the Store is away, but not for ever", async () => {
    const world = sharedWorld(onTestFinished);
    const one = world.open();
    const { key } = await newKey(one);
    expect(await one.control.keys.find(key)).toMatchObject({ scope: "write" });
    one.setAway(true);
    await world.pass(60_000);
    expect(await one.control.keys.find(key)).toMatchObject({ scope: "write" });
    await world.pass(300_000);
    await expect(one.control.keys.find(key)).rejects.toThrow("away");
  });
});

describe("the token of a job", () => {
  it("is fenced within two seconds, and its replica's key costs no further call", async () => {
    const world = sharedWorld(onTestFinished);
    const [one, other] = [world.open(), world.open()];
    const { token, hash } = newJobToken("train-r-a1", "s");
    const job: Partial<JobRecord> = { v: 1, id: "train-r-a1", attempt: 1, tokenHash: hash, fenced: false };
    await world.store.put(jobKey("train-r-a1"), job);
    expect(await one.control.jobTokens.find(token)).toMatchObject({ fenced: false });
    await fenceJob(other.control, "train-r-a1");
    await world.pass(2_100);
    const before = one.storeCalls();
    expect(await one.control.jobTokens.accessKey("train-r-a1")).toBeDefined();
    expect(one.storeCalls()).toBe(before);
    expect(await one.control.jobTokens.find(token)).toMatchObject({ fenced: true });
    await changeJob(one.control, "train-r-a1", (record) => ({ ...record, fenced: false }));
    expect(await one.control.jobTokens.find(token)).toMatchObject({ fenced: false });
  });
});

describe("the limits of a minute", () => {
  it("are split over the gateways that live", async () => {
    const world = sharedWorld(onTestFinished);
    const [one, other] = (await gateways(world, 2)) as [SharedPlane, SharedPlane];
    const { key } = await newKey(one, { requestsPerMinute: 10 });
    expect(await spend(one, key)).toBe(5);
    expect(await spend(other, key)).toBe(5);
    await world.pass(60_000);
    expect((await spend(one, key)) + (await spend(other, key))).toBe(10);
  });

  it("belong to who is left, soon after another one went or was killed", async () => {
    const world = sharedWorld(onTestFinished);
    const [one, other, third] = (await gateways(world, 3)) as [SharedPlane, SharedPlane, SharedPlane];
    const { key } = await newKey(one, { tokensPerMinute: 600 });
    const holder = await one.control.keys.find(key);
    const left = async () => {
      const { headers } = await one.control.limits.admit(holder ?? { id: "", scope: "chat" }, 0);
      return headers;
    };
    expect(await left()).toMatchObject({
      "x-ratelimit-limit-tokens": "600",
      "x-ratelimit-remaining-tokens": "200",
    });
    await third.control.fleet.close();
    await world.pass(60_000);
    expect(await left()).toMatchObject({ "x-ratelimit-remaining-tokens": "300" });
    other.kill();
    await world.pass(8_000);
    expect(one.control.fleet.size).toBe(1);
    await world.pass(60_000);
    expect(await left()).toMatchObject({ "x-ratelimit-remaining-tokens": "600" });
  });

  it("are not split by functions, which count nothing", async () => {
    const world = sharedWorld(onTestFinished);
    const [one] = (await gateways(world, 1)) as [SharedPlane];
    world.open({ readsAtUse: true });
    await world.pass(5_000);
    expect(one.control.fleet.size).toBe(1);
  });
});

describe("the budget of a month", () => {
  it("is counted by all gateways together, and a second late at most", async () => {
    const world = sharedWorld(onTestFinished);
    const [one, other] = (await gateways(world, 2)) as [SharedPlane, SharedPlane];
    const { key } = await newKey(one, { tokensPerMonth: 100 });
    const holder = await other.control.keys.find(key);
    if (holder === undefined) throw new Error("no key");
    const admit = () => other.control.limits.admit(holder, 0);
    (await admit()).meter({ promptTokens: 0, completionTokens: 10 });
    expect(await spend(one, key)).toBe(10);
    await world.pass(1_100);
    // The first one that comes tells what the others counted.
    await admit();
    await world.pass(1_100);
    await expect(admit()).rejects.toThrow("100 tokens");
  });
});
