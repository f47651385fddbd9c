import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import { changeEndpoint } from "../../../functions/endpoints/records.ts";
import { liveCounts } from "../../../functions/status/live-counts.ts";
import type { TestPlane } from "../../fakes/control-plane.ts";
import { ask, asker, CHAT, endpoints, errorOf, HI, NANO, trained } from "./trained.ts";

describe("a checkpoint that no endpoint serves", () => {
  it("gets one when it is asked for by name, which sleeps when nobody asks (34)", async () => {
    const { plane, run, bringUp } = await trained();
    const answer = ask(plane, `${run}@2`);
    await expect.poll(() => endpoints(plane)).toHaveLength(1);
    const [made] = await endpoints(plane);
    expect(made).toMatchObject({
      checkpoint: `${run}@2`,
      implicit: true,
      public: false,
      scaling: { min: 0, max: 1 },
    });
    await bringUp(made?.name ?? "");
    expect(await (await answer).json()).toEqual({ model: made?.name });
    expect(await (await ask(plane, run)).json()).toEqual({ model: made?.name });
    expect(await endpoints(plane)).toHaveLength(1);
  });

  it("is not served to a key that may not use it, nor for a request that is not valid", async () => {
    const { plane, run } = await trained();
    const refused = await ask(plane, `${run}@2`, await asker(plane, ["elsewhere"]));
    expect(refused.status).toBe(403);
    expect((await plane.call("POST", CHAT, { model: run, messages: [] })).status).toBe(400);
    const embeddings = await plane.call("POST", "/v1/embeddings", { model: run, input: "x" });
    expect(embeddings.status).toBe(404);
    await plane.json("POST", "/endpoints", { model: NANO, name: "open", public: true });
    expect((await plane.call("POST", CHAT, { model: run, messages: HI }, null)).status).toBe(401);
    expect((await endpoints(plane)).map(({ name }) => name)).toEqual(["open"]);
  });

  it("is served to a key that lists the run", async () => {
    const { plane, run } = await trained();
    const answer = ask(plane, `${run}@2`, await asker(plane, [run]));
    await expect.poll(() => endpoints(plane)).toHaveLength(1);
    await plane.json("DELETE", `/endpoints/${(await endpoints(plane))[0]?.name}`);
    expect((await answer).status).toBe(503);
  });

  it("gets 404 with the way to launch it, where only what is launched answers", async () => {
    const { plane, run } = await trained(false);
    const { code, message } = await errorOf(await ask(plane, run));
    expect(code).toBe("model_not_found");
    expect(message).toContain(`{ checkpoint: "${run}@2" }`);
    expect(await endpoints(plane)).toEqual([]);
  });

  it("gets 404 when there is no such step", async () => {
    const { plane, run } = await trained();
    const { code, message } = await errorOf(await ask(plane, `${run}@7`));
    expect(code).toBe("model_not_found");
    expect(message).toContain(`There is no checkpoint ${run}@7`);
    expect(await endpoints(plane)).toEqual([]);
  });

  it("becomes somebody's endpoint when it is launched, and does not keep an idle daemon up before", async () => {
    const { plane, run, bringUp } = await trained();
    const answer = ask(plane, run);
    await expect.poll(() => endpoints(plane)).toHaveLength(1);
    const name = (await endpoints(plane))[0]?.name ?? "";
    await bringUp(name);
    await answer;
    expect((await liveCounts(plane.control)).endpoints).toBe(1);
    await changeEndpoint(
      plane.control,
      name,
      (current) => current && { ...current, endpoint: { ...current.endpoint, desired: 0 } },
    );
    expect((await liveCounts(plane.control)).endpoints).toBe(0);
    const launched = await plane.json<Endpoint>("POST", "/endpoints", {
      model: NANO,
      checkpoint: `${run}@2`,
    });
    expect(launched.name).toBe(name);
    expect(launched.implicit).toBeUndefined();
    expect(launched.scaling).toMatchObject({ min: 1 });
  });

  it("makes room for the next one when four are awake, and waits its turn when all are busy", async () => {
    const { plane, run, job } = await trained();
    const steps = [2, 4, 6, 8, 10];
    for (const step of steps.slice(1)) await job.save(step, "lora");
    for (const step of steps.slice(0, 4)) void ask(plane, `${run}@${step}`);
    await expect.poll(() => endpoints(plane)).toHaveLength(4);
    const busy = await ask(plane, `${run}@10`);
    expect(busy.status).toBe(503);
    expect(Number(busy.headers.get("retry-after"))).toBeGreaterThan(0);
    const first = (await endpoints(plane)).find(({ checkpoint }) => checkpoint === `${run}@2`);
    await plane.json("DELETE", `/endpoints/${first?.name}`);
    void ask(plane, `${run}@10`);
    await expect.poll(() => endpoints(plane)).toHaveLength(5);
  });
});

describe("base:adapter", () => {
  it("means an adapter of the model that the endpoint serves", async () => {
    const { plane, run, bringUp } = await trained();
    await plane.json("POST", "/endpoints", { model: NANO, name: "base" });
    await plane.json("POST", "/endpoints", { model: NANO, name: "tuned", checkpoint: `${run}@2` });
    await bringUp("tuned");
    for (const model of [`base:${run}@2`, `base:${run}`])
      expect(await (await ask(plane, model)).json()).toEqual({ model: "tuned" });
  });

  it("is 404 where there is no such thing (68)", async () => {
    const { plane, run, job } = await trained(false);
    await job.save(5);
    await plane.json("POST", "/endpoints", { model: NANO, name: "base" });
    await plane.json("POST", "/endpoints", { model: NANO, name: "tuned", checkpoint: `${run}@2` });
    const names = [`none:${run}@2`, `base:${run}@3`, `base:${run}@5`, `tuned:${run}@5`, "base:nothing"];
    for (const name of [...names, `:${run}`, "base:", "base:x:y"]) {
      const response = await ask(plane, name);
      expect(response.status, name).toBe(404);
      expect(await errorOf(response), name).toMatchObject({ code: "model_not_found" });
    }
    expect((await errorOf(await ask(plane, `base:${run}@5`))).message).toContain("is no adapter");
  });
});

describe("GET /v1/models", () => {
  const ids = async (plane: TestPlane, key?: string) =>
    (await plane.json<{ data: { id: string }[] }>("GET", "/v1/models", undefined, key)).data.map(
      ({ id }) => id,
    );

  it("lists endpoints, aliases, and what would be served for the asking, and launches nothing", async () => {
    const { plane, run, job } = await trained();
    await job.save(4);
    await plane.json("POST", "/endpoints", { model: NANO, name: "base" });
    await plane.json("PUT", "/aliases/haiku", { targets: [{ model: "base" }] });
    const before = plane.containers.launched.length;
    expect(await ids(plane)).toEqual(["base", "haiku", run, `${run}@2`, `base:${run}@2`, `${run}@4`]);
    await plane.reconciler.settle();
    expect((await endpoints(plane)).map(({ name }) => name)).toEqual(["base"]);
    expect(plane.containers.launched.length - before).toBeLessThanOrEqual(1);
  });

  it("lists to a key what it may use", async () => {
    const { plane, run } = await trained();
    await plane.json("POST", "/endpoints", { model: NANO, name: "base" });
    await plane.json("PUT", "/aliases/haiku", { targets: [{ model: "base" }] });
    expect(await ids(plane, await asker(plane, ["base"]))).toEqual(["base", "haiku"]);
    expect(await ids(plane, await asker(plane, ["haiku"]))).toEqual(["haiku"]);
    expect(await ids(plane, await asker(plane, [run]))).toContain(`${run}@2`);
    expect(await ids(plane, await asker(plane, ["elsewhere"]))).toEqual([]);
  });

  it("finds one by its name, escaped or not", async () => {
    const { plane, run } = await trained();
    await plane.json("POST", "/endpoints", { model: NANO, name: "base" });
    for (const id of ["base", run, `${run}@2`, `base:${run}@2`]) {
      for (const path of [id, encodeURIComponent(id), `${id}/`])
        expect(await plane.json("GET", `/v1/models/${path}`)).toMatchObject({ id, object: "model" });
    }
    for (const id of ["org/name", "org%2Fname", "base:none", `${run}@9`]) {
      const response = await plane.call("GET", `/v1/models/${id}`);
      expect(response.status).toBe(404);
      expect(await errorOf(response)).toMatchObject({ code: "model_not_found", param: "model" });
    }
    expect(await endpoints(plane)).toHaveLength(1);
  });
});
