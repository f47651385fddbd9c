import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import type { Run, RunDetail } from "../../../sdk/schema/run.ts";
import { ADMIN_KEY, testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { CODE_SHA, DATASET_SHA, preparedSpec } from "../../fakes/run-spec.ts";

const DAY_MS = 24 * 60 * 60_000;

function launch(plane: TestPlane, path: string, key: string, body: unknown): Promise<Response> {
  const headers = {
    authorization: `Bearer ${ADMIN_KEY}`,
    "content-type": "application/json",
    "idempotency-key": key,
  };
  return Promise.resolve(plane.app.request(path, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function launched<T>(plane: TestPlane, path: string, key: string, body: unknown): Promise<T> {
  const response = await launch(plane, path, key, body);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
}

async function runsOf(plane: TestPlane): Promise<Run[]> {
  return (await plane.json<{ items: Run[] }>("GET", "/runs")).items;
}

/** Dies at a write, once: everything behind it fails until the plane is started again. */
function dieAtWrite({ control }: TestPlane, number: number): { writes: () => number } {
  let writes = 0;
  let isDead = false;
  for (const name of ["put", "append", "get"] as const) {
    const real = control.store[name].bind(control.store) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(control.store, {
      [name]: async (...args: unknown[]) => {
        if (name !== "get" && ++writes === number) isDead = true;
        if (isDead) throw new Error("the process is dead");
        return real(...args);
      },
    });
  }
  return { writes: () => writes };
}

describe("a launch with an idempotency key", () => {
  it("happens once, however often it is repeated, also after a restart and beside itself", async () => {
    let plane = await testPlane({ onEnd: onTestFinished });
    const spec = await preparedSpec(plane);
    const both = await Promise.all(["k", "k"].map((key) => launched<RunDetail>(plane, "/runs", key, spec)));
    const ids = both.map(({ run }) => run.id);
    expect(ids[1]).toBe(ids[0]);
    plane = await plane.restart();
    expect((await launched<RunDetail>(plane, "/runs", "k", spec)).run.id).toBe(ids[0]);
    expect(await runsOf(plane)).toHaveLength(1);
    await launched(plane, "/runs", "another", spec);
    await plane.json("POST", "/runs", spec);
    expect(await runsOf(plane)).toHaveLength(3);
  });

  it("is a final conflict with another body", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const spec = await preparedSpec(plane);
    await launched(plane, "/runs", "k", spec);
    const refused = await launch(plane, "/runs", "k", { ...spec, name: "another" });
    expect(refused.status).toBe(409);
    expect(refused.headers.get("retry-after")).toBeNull();
    expect(await refused.json()).toMatchObject({ error: { code: "conflict", where: "idempotency-key" } });
    expect(await runsOf(plane)).toHaveLength(1);
  });

  it("leaves nothing where it was refused, and is refused again", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const spec = await preparedSpec(plane);
    const wrong = { ...spec, model: { name: "nobody/knows" } };
    expect((await launch(plane, "/runs", "k", wrong)).status).toBe(404);
    expect((await launch(plane, "/runs", "k", wrong)).status).toBe(404);
    expect(await runsOf(plane)).toEqual([]);
  });

  it("does not come back when its run was deleted", async () => {
    const plane = await testPlane({
      onEnd: onTestFinished,
      firstState: { state: "waiting", reason: "capacity" },
    });
    const spec = await preparedSpec(plane);
    const { run } = await launched<RunDetail>(plane, "/runs", "k", spec);
    await plane.json("POST", `/runs/${run.id}/cancel`);
    await plane.reconciler.settle();
    expect((await plane.call("DELETE", `/runs/${run.id}`)).status).toBe(204);
    expect((await launch(plane, "/runs", "k", spec)).status).toBe(404);
    expect(await runsOf(plane)).toEqual([]);
  });

  it.each(["", " ", "ä", "k".repeat(201)])("needs a key of visible characters, not %j", async (key) => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const sent = key === "ä" ? "\u00e4" : key;
    const response = await launch(plane, "/runs", sent, await preparedSpec(plane));
    expect([response.status, (await runsOf(plane)).length]).toEqual([400, 0]);
  });

  it("is forgotten after a day, and no earlier", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const spec = await preparedSpec(plane);
    const { run } = await launched<RunDetail>(plane, "/runs", "k", spec);
    plane.clock.advance(DAY_MS - 1_000);
    await launched(plane, "/runs", "k2", spec);
    expect((await launched<RunDetail>(plane, "/runs", "k", spec)).run.id).toBe(run.id);
    plane.clock.advance(2_000);
    await launched(plane, "/runs", "k3", spec);
    const { items } = await plane.control.store.query("launches");
    expect(items).toHaveLength(2);
  });
});

describe("a launch whose control plane dies", () => {
  it.each([1, 2, 3, 4, 5])("at write %i is there once, when it is repeated", async (number) => {
    let plane = await testPlane({ onEnd: onTestFinished });
    const spec = await preparedSpec(plane);
    const { writes } = dieAtWrite(plane, number);
    await launch(plane, "/runs", "k", spec).catch(() => undefined);
    expect(writes()).toBeGreaterThanOrEqual(number);
    plane = await plane.restart();
    const { run } = await launched<RunDetail>(plane, "/runs", "k", spec);
    expect((await runsOf(plane)).map(({ id }) => id)).toEqual([run.id]);
    const { events } = await plane.json<{ events: { body: object }[] }>("GET", `/runs/${run.id}/events`);
    expect(events.filter(({ body }) => "state" in body && body.state === "queued")).toHaveLength(1);
  });
});

describe("an eval and an endpoint", () => {
  it("are launched once for a key as well", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await preparedSpec(plane);
    const asked = { model: { name: "spotter/nano" }, name: "nano", recreate: true };
    const first = await launched<Endpoint>(plane, "/endpoints", "e", asked);
    await plane.reconciler.settle();
    const again = await launched<Endpoint>(plane, "/endpoints", "e", asked);
    expect(again.revision).toBe(first.revision);
    expect((await launched<Endpoint>(plane, "/endpoints", "e2", asked)).revision).toBe(first.revision + 1);
    const body = {
      endpoint: "nano",
      dataset: { sha256: DATASET_SHA, rows: 3 },
      rewards: { code: { sha256: CODE_SHA } },
    };
    const { id } = await launched<EvalRecord>(plane, "/evals", "k", body);
    expect((await launched<EvalRecord>(plane, "/evals", "k", body)).id).toBe(id);
    expect((await plane.json<{ items: EvalRecord[] }>("GET", "/evals")).items).toHaveLength(1);
  });
});
