import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Alias } from "../../../sdk/schema/alias.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";
import { fakeUpstream } from "../../fakes/upstream.ts";

const CHAT = "/v1/chat/completions";
const HI = [{ role: "user", content: "hi" }];

/** Endpoints that answer with their own name. */
async function twoEndpoints(onEnd: (end: () => Promise<void>) => void = onTestFinished): Promise<TestPlane> {
  const plane = await testPlane({ onEnd });
  const upstream = await fakeUpstream(onEnd, (response, { model }) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ model }));
  });
  for (const name of ["old", "new"]) {
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name });
    await plane.reconciler.settle();
    const job = fakeJob(plane, `serve-${name}-r1-1`, 1);
    await job.heartbeat();
    await job.report({ type: "ready", address: upstream.address });
    await plane.reconciler.settle();
  }
  return plane;
}

const TWICE = { targets: [{ model: "old" }, { model: "old" }] };
const split = (old: number, next: number) => ({
  targets: [
    { model: "old", weight: old },
    { model: "new", weight: next },
  ],
});

async function asked(
  plane: TestPlane,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await plane.app.request(CHAT, {
    method: "POST",
    headers: { authorization: "Bearer sk-spotter-admin-of-this-test", ...headers },
    body: JSON.stringify({ model: "haiku", messages: HI, ...more }),
  });
  return ((await response.json()) as { model: string }).model;
}

async function countOfNew(plane: TestPlane, times: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: times }, () => asked(plane)));
  return answers.filter((model) => model === "new").length;
}

/** One for all that is refused. */
let refusing: Promise<TestPlane> | undefined;
const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

describe("an alias", () => {
  it("splits requests by weight, and another weight counts from the next request on", async () => {
    const plane = await twoEndpoints();
    await plane.json("PUT", "/aliases/haiku", split(75, 25));
    const quarter = await countOfNew(plane, 200);
    expect(quarter).toBeGreaterThan(20);
    expect(quarter).toBeLessThan(85);
    await plane.json("PUT", "/aliases/haiku", split(1, 0));
    expect(await countOfNew(plane, 20)).toBe(0);
    await plane.json("PUT", "/aliases/haiku", split(0, 1));
    expect(await countOfNew(plane, 20)).toBe(20);
  });

  it("keeps a conversation on one side, by its name or by the request's id", async () => {
    const plane = await twoEndpoints();
    await plane.json("PUT", "/aliases/haiku", split(1, 1));
    for (const key of ["prompt_cache_key", "safety_identifier", "user"]) {
      const sides = await Promise.all(Array.from({ length: 8 }, () => asked(plane, { [key]: "anna" })));
      expect(new Set(sides).size).toBe(1);
    }
    const users = await Promise.all(Array.from({ length: 30 }, (_, n) => asked(plane, { user: `u${n}` })));
    expect(new Set(users).size).toBe(2);
    const repeated = await Promise.all(
      Array.from({ length: 8 }, () => asked(plane, {}, { "x-request-id": "retried-1" })),
    );
    expect(new Set(repeated).size).toBe(1);
  });

  it("costs no Store call once it is known, and outlives the process", async () => {
    const plane = await twoEndpoints();
    const alias = await plane.json<Alias>("PUT", "/aliases/haiku", split(0, 1));
    await asked(plane);
    const { store } = plane.control;
    const calls = [vi.spyOn(store, "get"), vi.spyOn(store, "query")];
    expect(await asked(plane)).toBe("new");
    for (const call of calls) expect(call).not.toHaveBeenCalled();
    const second = await plane.restart();
    expect(await second.json("GET", "/aliases/haiku")).toEqual(alias);
    expect(await second.json("GET", "/aliases")).toEqual({ items: [alias] });
  });

  it("may lead to a run and to a checkpoint", async () => {
    const plane = await twoEndpoints();
    const { id, job } = await runningRun(plane);
    await job.save(2);
    await plane.json("POST", "/endpoints", {
      model: { name: "spotter/nano" },
      name: "tuned",
      checkpoint: `${id}@2`,
    });
    for (const model of [id, `${id}@2`]) {
      await plane.json("PUT", "/aliases/haiku", { targets: [{ model }] });
      const { data } = await plane.json<{ data: { id: string }[] }>("GET", "/v1/models");
      expect(data.map((each) => each.id)).toEqual(expect.arrayContaining(["haiku", "tuned", `${id}@2`]));
      expect(await plane.json("GET", "/v1/models/haiku")).toMatchObject({ id: "haiku" });
    }
  });

  it("is removed, and made again, with what it led to left alone", async () => {
    const plane = await twoEndpoints();
    await plane.json("PUT", "/aliases/haiku", split(1, 0));
    expect((await plane.call("DELETE", "/aliases/haiku")).status).toBe(204);
    expect((await plane.call("DELETE", "/aliases/haiku")).status).toBe(204);
    expect((await plane.call("GET", "/aliases/haiku")).status).toBe(404);
    const gone = await plane.call("POST", CHAT, { model: "haiku", messages: HI });
    expect(await gone.json()).toMatchObject({ error: { code: "model_not_found" } });
    await plane.json("PUT", "/aliases/haiku", split(0, 1));
    expect(await asked(plane)).toBe("new");
    expect(await asked(plane, { model: "old" })).toBe("old");
  });

  it.each([
    ["to nothing", "haiku", { targets: [{ model: "none" }] }, "model_not_found", "targets[0].model"],
    ["to another alias", "haiku", { targets: [{ model: "first" }] }, "invalid_input", "targets[0].model"],
    ["twice to the same", "haiku", TWICE, "invalid_input", "targets[1].model"],
    ["with no weight at all", "haiku", split(0, 0), "invalid_input", "targets"],
    ["nowhere", "haiku", { targets: [] }, "invalid_input", "targets"],
    ["with a weight below 0", "haiku", split(-1, 1), "invalid_input", "targets.0.weight"],
    ["as an endpoint is called", "old", split(1, 1), "conflict", "name"],
    ["by a name that is none", "a%20b", split(1, 1), "invalid_input", ""],
  ])("is refused that leads %s", async (_what, name, body, code, where) => {
    refusing ??= twoEndpoints((end) => void ends.push(end));
    const plane = await refusing;
    await plane.json("PUT", "/aliases/first", { targets: [{ model: "old" }] });
    const answer = await plane.call("PUT", `/aliases/${name}`, body);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    const { error } = (await answer.json()) as { error: { code: string; where?: string } };
    expect(error.code).toBe(code);
    expect(error.where ?? "").toBe(where);
  });

  it("keeps its name from endpoints", async () => {
    const plane = await twoEndpoints();
    await plane.json("PUT", "/aliases/haiku", split(1, 1));
    const answer = await plane.call("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "haiku" });
    expect(await answer.json()).toMatchObject({ error: { code: "conflict", where: "name" } });
  });
});
