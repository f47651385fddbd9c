import { describe, expect, it } from "vitest";
import { fakeJob } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import { ask, asker, CHAT, endpoints, errorOf, HI, NANO, trained } from "./trained.ts";

describe("a checkpoint where only what is launched answers", () => {
  const modelOf = async (answer: Promise<Response>) => await (await answer).json();

  it("is an adapter of the endpoint that serves its model, asleep or not", async () => {
    const { plane, run, bringUp } = await trained(false);
    const scaling = { min: 0, max: 1 };
    await plane.json("POST", "/endpoints", { model: NANO, name: "base", scaling });
    await plane.json("PUT", "/aliases/haiku", { targets: [{ model: `${run}@2` }] });
    const held = ask(plane, `${run}@2`);
    await bringUp("base");
    expect(await modelOf(held)).toEqual({ model: `${run}@2` });
    for (const model of [run, `base:${run}`, `base:${run}@2`, "haiku"])
      expect(await modelOf(ask(plane, model)), model).toEqual({ model: `${run}@2` });
    expect(await modelOf(ask(plane, "base"))).toEqual({ model: "base" });
    expect(await plane.json("GET", `/v1/models/${run}@2`)).toMatchObject({ id: `${run}@2` });
    expect(await endpoints(plane)).toHaveLength(1);
  });

  it("is asked of an endpoint that is up rather than of one that is not yet", async () => {
    const { plane, run, bringUp } = await trained(false);
    await plane.json("POST", "/endpoints", { model: NANO, name: "a" });
    await plane.json("POST", "/endpoints", { model: NANO, name: "b" });
    await bringUp("b");
    expect(await modelOf(ask(plane, run))).toEqual({ model: `${run}@2` });
  });

  it("is left to its own endpoint, unless a base was named", async () => {
    const { plane, run, bringUp } = await trained(false);
    for (const body of [{ name: "base" }, { name: "tuned", checkpoint: `${run}@2` }]) {
      await plane.json("POST", "/endpoints", { model: NANO, ...body });
      await bringUp(body.name);
    }
    expect(await modelOf(ask(plane, `${run}@2`))).toEqual({ model: "tuned" });
    expect(await modelOf(ask(plane, `base:${run}@2`))).toEqual({ model: `${run}@2` });
    await plane.json("DELETE", "/endpoints/tuned");
    expect(await modelOf(ask(plane, `${run}@2`))).toEqual({ model: `${run}@2` });
  });

  it("gets 404 with the way to launch it when it is no adapter, or nobody serves its very model", async () => {
    const { plane, run, job } = await trained(false);
    await job.save(5);
    const stop = { model: NANO, name: "stopped" };
    await plane.json("POST", "/endpoints", { model: { ...NANO, revision: "0".repeat(64) }, name: "other" });
    await plane.json("POST", "/endpoints", stop);
    await plane.json("DELETE", "/endpoints/stopped");
    for (const step of [2, 5]) {
      if (step === 5) await plane.json("POST", "/endpoints", { ...stop, name: "base" });
      const response = await ask(plane, `${run}@${step}`);
      expect(response.status).toBe(404);
      const { code, message } = await errorOf(response);
      expect(code).toBe("model_not_found");
      expect(message).toContain(`{ checkpoint: "${run}@${step}" }`);
    }
  });

  it("is for keys that may use the base or the run, and not for everybody where the base is", async () => {
    const { plane, run, bringUp } = await trained(false);
    await plane.json("POST", "/endpoints", { model: NANO, name: "base", public: true });
    await bringUp("base");
    const status = async (key: string | null) =>
      (await plane.call("POST", CHAT, { model: `${run}@2`, messages: HI }, key)).status;
    expect(await status(await asker(plane))).toBe(200);
    expect(await status(await asker(plane, ["base"]))).toBe(200);
    expect(await status(await asker(plane, [run]))).toBe(200);
    expect(await status(await asker(plane, ["elsewhere"]))).toBe(403);
    expect(await status(null)).toBe(401);
  });

  it("is evaluated on the base that its name meant at launch", async () => {
    const { plane, run, bringUp } = await trained(false);
    await plane.json("POST", "/endpoints", { model: NANO, name: "base" });
    await bringUp("base");
    const { dataset, rewards } = await preparedSpec(plane);
    const { id } = await plane.json<{ id: string }>("POST", "/evals", { endpoint: run, dataset, rewards });
    await plane.reconciler.settle();
    const job = fakeJob(plane, `eval-${id}-a1`, 1);
    const { model } = await job.call<{ model: string }>("GET", "");
    expect(model).toBe(`base:${run}@2`);
    expect(await modelOf(ask(plane, model, job.token))).toEqual({ model: `${run}@2` });
    expect((await ask(plane, run, job.token)).status).toBe(200);
  });
});
