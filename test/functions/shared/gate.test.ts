import { describe, expect, it, onTestFinished } from "vitest";
import { createSharedGate, INDEX_LAG_MS, MARK_LIVES_MS } from "../../../functions/records/shared-gate.ts";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import { systemIds } from "../../../functions/system/system-ids.ts";
import type { Store } from "../../../functions/ports/store.ts";
import { sharedWorld } from "../../fakes/shared-planes.ts";

function world(count: number) {
  const shared = sharedWorld(onTestFinished);
  const { store, clock } = shared;
  const pass = (ms: number) => shared.pass(ms);
  const gates = Array.from({ length: count }, () => createSharedGate({ store, clock, ids: systemIds() }));
  const marks = async () => {
    const [begins, removals] = await Promise.all(
      ["gate-begins", "gate"].map((each) => store.query<{ by: string }>(each)),
    );
    return [...(begins?.items ?? []), ...(removals?.items ?? [])].filter(({ value }) => value.by !== "")
      .length;
  };
  return { store, clock, pass, gates, marks };
}

/** Counts who is inside, and finds out when a removal was not alone. */
function room() {
  let begins = 0;
  let removals = 0;
  const faults: string[] = [];
  const log: string[] = [];
  return {
    faults,
    log,
    async begin(name: string, work: Promise<unknown> = Promise.resolve()) {
      begins++;
      log.push(`${name} begins`);
      if (removals > 0) faults.push(`${name} began beside a removal`);
      await work;
      if (removals > 0) faults.push(`${name} worked beside a removal`);
      begins--;
    },
    async remove(name: string, work: Promise<unknown> = Promise.resolve()) {
      removals++;
      log.push(`${name} removes`);
      if (begins > 0 || removals > 1) faults.push(`${name} was not alone`);
      await work;
      if (begins > 0 || removals > 1) faults.push(`${name} did not stay alone`);
      removals--;
    },
  };
}

describe("a gate of several processes", () => {
  it("lets many begin at a time, and a removal be alone", async () => {
    const { gates, pass, marks } = world(3);
    const inside = room();
    const first = Promise.withResolvers<undefined>();
    const begun = [
      gates[0]?.begin(() => inside.begin("a", first.promise)),
      gates[1]?.begin(() => inside.begin("b")),
    ];
    await pass(100);
    expect(inside.log).toEqual(["a begins", "b begins"]);
    const removal = gates[2]?.remove(() => inside.remove("c"));
    await pass(1_000);
    const late = gates[1]?.begin(() => inside.begin("d"));
    await pass(1_000);
    expect(inside.log).toHaveLength(2);
    first.resolve(undefined);
    await pass(INDEX_LAG_MS + 5_000);
    await Promise.all([...begun, removal, late]);
    expect(inside.log.slice(2)).toEqual(["c removes", "d begins"]);
    expect(inside.faults).toEqual([]);
    expect(await marks()).toBe(0);
  });

  it("keeps them apart whatever happens at the same time", async () => {
    const { gates, pass, clock } = world(4);
    const inside = room();
    const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
    // Numbers that look random and are the same in each run.
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const all: Promise<unknown>[] = [];
    for (let round = 0; round < 60; round++) {
      const gate = gates[random(4)];
      const ms = random(1_500);
      all.push(
        random(4) === 0
          ? Promise.resolve(gate?.remove(() => inside.remove(`r${round}`, pause(ms))))
          : Promise.resolve(gate?.begin(() => inside.begin(`b${round}`, pause(ms)))),
      );
      await pass(100 * random(6));
    }
    await pass(120_000);
    await Promise.all(all);
    expect(inside.faults).toEqual([]);
    expect(inside.log).toHaveLength(60);
  });

  it("passes on what fails, and goes on", async () => {
    const { gates, pass, marks } = world(1);
    const fail = () => Promise.reject(new Error("broken"));
    await expect(gates[0]?.begin(fail)).rejects.toThrow("broken");
    const removal = expect(gates[0]?.remove(fail)).rejects.toThrow("broken");
    await pass(INDEX_LAG_MS + 3_000);
    await removal;
    const after = gates[0]?.remove(async () => 1);
    await pass(INDEX_LAG_MS + 3_000);
    expect(await after).toBe(1);
    expect(await marks()).toBe(0);
  });

  it("does not wait for ever for a process that died, and not less for one that works long", async () => {
    const { store, gates, pass } = world(2);
    await store.put({ partition: "gate-begins", sort: "of-a-dead-one" }, { v: 1, by: "dead" });
    const inside = room();
    const long = Promise.withResolvers<undefined>();
    const working = gates[0]?.begin(() => inside.begin("long", long.promise));
    await pass(100);
    const removal = gates[1]?.remove(() => inside.remove("removal"));
    await pass(3 * MARK_LIVES_MS);
    expect(inside.log).toEqual(["long begins"]);
    long.resolve(undefined);
    await pass(1_500);
    // An index may not know yet what was launched at the last moment.
    expect(inside.log).toHaveLength(1);
    await pass(INDEX_LAG_MS);
    await Promise.all([working, removal]);
    expect(inside.log).toEqual(["long begins", "removal removes"]);
  });

  it("gets past the removal of a process that died", async () => {
    const { store, gates, pass } = world(2);
    await store.put({ partition: "gate", sort: "removal" }, { v: 1, by: "dead" });
    const inside = room();
    const [first, second] = [
      gates[0]?.begin(() => inside.begin("a")),
      gates[1]?.remove(() => inside.remove("b")),
    ];
    await pass(MARK_LIVES_MS - 1_000);
    expect(inside.log).toEqual([]);
    await pass(INDEX_LAG_MS + 8_000);
    await first;
    await second;
    expect(inside.log.toSorted()).toEqual(["a begins", "b removes"]);
    expect(inside.faults).toEqual([]);
  });

  it("does not call a launch failed because its mark could not be taken away", async () => {
    const { store, gates } = world(1);
    store.delete = () => Promise.reject(new Error("The Store is away."));
    expect(await gates[0]?.begin(async () => "launched")).toBe("launched");
  });
});

it("keeps what is launched in one process while another cleans up", async () => {
  const world = sharedWorld(onTestFinished);
  const [one, other] = [world.open({ readsAtUse: true }), world.open({ readsAtUse: true })];
  const order: string[] = [];
  // The cleanup stands still in the middle of its first look.
  const look = Promise.withResolvers<undefined>();
  const { store } = one.control;
  const query: Store["query"] = store.query.bind(store);
  store.query = async (...args) => {
    if (args[0] === "runs") await look.promise;
    return query(...args) as never;
  };
  const cleanup = one
    .json("POST", "/cleanup", { olderThanMs: 0, dryRun: false })
    .then(() => order.push("cleaned up"));
  await world.pass(INDEX_LAG_MS + 500);
  const launch = other
    .json<Endpoint>("POST", "/endpoints", { model: { name: "spotter/nano" } })
    .then(() => order.push("launched"));
  await world.pass(2_000);
  expect(order).toEqual([]);
  look.resolve(undefined);
  await world.pass(5_000);
  await Promise.all([cleanup, launch]);
  expect(order).toEqual(["cleaned up", "launched"]);
});
