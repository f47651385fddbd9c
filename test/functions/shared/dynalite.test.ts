import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { createControl, type Control } from "../../../functions/control.ts";
import type { Deps } from "../../../functions/deps.ts";
import { DynamoStore } from "../../../functions/aws/dynamo-store.ts";
import { systemClock } from "../../../functions/system/system-clock.ts";
import { createAutoscaler } from "../../../functions/autoscaler/autoscaler.ts";
import { changeEndpoint, endpointKey } from "../../../functions/endpoints/records.ts";
import { startDynamo, type FakeDynamo } from "../../fakes/dynamo.ts";
import { sharedWorld } from "../../fakes/shared-planes.ts";

let dynamo: FakeDynamo;
beforeAll(async () => {
  dynamo = await startDynamo();
});
afterAll(async () => {
  await dynamo.stop();
});

/** Processes with clients of their own over one table, in real time. */
async function processes(count: number): Promise<Control[]> {
  const table = await dynamo.createTable();
  return Array.from({ length: count }, () => {
    const client = dynamo.client();
    const deps: Deps = {
      ...sharedWorld(onTestFinished).open().deps,
      store: new DynamoStore({ table, client }),
      clock: systemClock(),
      shared: { maxAgeMs: 2_000, wake: () => undefined },
    };
    const control = createControl(deps, {
      wake: () => {},
      wakeWebhooks: () => {},
      probe: async () => true,
      shutdown: () => {},
    });
    onTestFinished(async () => {
      await control.usage.close();
      await control.closeShared();
      client.destroy();
    });
    return control;
  });
}

const within = (ms: number) => ({ timeout: ms, interval: 50 });

it("is the same over DynamoDB: gateways know each other, one decides, and records are followed", async () => {
  const [one, other] = (await processes(2)) as [Control, Control];
  const scalers = [createAutoscaler(one), createAutoscaler(other)];
  onTestFinished(async () => {
    for (const scaler of scalers) await scaler.close();
  });
  for (const control of [one, other]) await control.fleet.join();
  for (const scaler of scalers) await scaler.start();
  await changeEndpoint(other, "base", () => sleepingEndpoint());
  const tickets = Array.from({ length: 3 }, () => other.load.accept("base"));
  // The one that decides learns of the endpoint and of who waits at the other one.
  await vi.waitFor(async () => {
    const document = await other.store.get<{ endpoint: { desired: number } }>(endpointKey("base"));
    expect(document?.value.endpoint.desired).toBe(1);
  }, within(4_000));
  expect(one.routes.find("base")?.desired).toBe(1);
  await vi.waitFor(() => {
    expect([one.fleet.size, other.fleet.size]).toEqual([2, 2]);
    expect(one.fleet.load("base")).toMatchObject({ queued: 3 });
  }, within(4_000));
  for (const ticket of tickets) ticket.end();
  await other.store.delete(endpointKey("base"));
  await vi.waitFor(() => expect(one.routes.find("base")).toBeUndefined(), within(2_500));
});

it("is the same over DynamoDB: codes open one session, and a removal is alone", async () => {
  const [one, other] = (await processes(2)) as [Control, Control];
  const code = await one.sessions.createCode();
  const cookies = await Promise.all([one, other, one].map((each) => each.sessions.exchange(code)));
  const cookie = cookies.find((each) => each !== undefined) ?? "";
  expect(cookies.filter((each) => each !== undefined)).toHaveLength(1);
  expect(await other.sessions.isOpen(cookie)).toBe(true);
  const order: string[] = [];
  const first = Promise.withResolvers<undefined>();
  const begun = one.gate.begin(async () => {
    order.push("begins");
    await first.promise;
    order.push("has begun");
  });
  await vi.waitFor(() => expect(order).toHaveLength(1), within(2_000));
  const removal = other.gate.remove(async () => void order.push("removes"));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const many = Array.from({ length: 20 }, () => one.gate.begin(async () => void order.push("late")));
  first.resolve(undefined);
  await Promise.all([begun, removal, ...many]);
  expect(order.slice(0, 3)).toEqual(["begins", "has begun", "removes"]);
  expect(order).toHaveLength(23);
});

function sleepingEndpoint() {
  return {
    v: 1 as const,
    launches: 1,
    revisions: {},
    endpoint: {
      v: 1 as const,
      name: "base",
      state: "ready" as const,
      model: { name: "spotter/nano" },
      engine: "onnx" as const,
      public: false,
      desired: 0,
      revision: 1,
      startFailures: 0,
      scaling: { min: 0, max: 1 },
      replicas: [],
      createdAtMs: Date.now(),
      url: "",
    },
  };
}
