import { describe, expect, it, onTestFinished } from "vitest";
import type { Run } from "../../../sdk/schema/run.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";

describe("what people say about a run", () => {
  it("changes name, tags and notes, and nothing else", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, state } = await runningRun(plane, { tags: ["a"] });
    const before = await state();
    const patch = (body: object) => plane.json<Run>("PATCH", `/runs/${id}`, body);
    expect(await patch({ tags: ["b", "c", "b"], notes: "better than the last" })).toEqual({
      ...before,
      tags: ["b", "c"],
      notes: "better than the last",
    });
    expect(await patch({ name: "best" })).toMatchObject({ name: "best", tags: ["b", "c"] });
    const cleared = await patch({ notes: "", name: "", tags: [] });
    expect(cleared).toMatchObject({ tags: [] });
    expect(cleared).not.toHaveProperty("notes");
    expect(cleared).not.toHaveProperty("name");
    const wrong = await plane.call("PATCH", `/runs/${id}`, { note: "x" });
    expect(await wrong.json()).toMatchObject({ error: { code: "unknown_key" } });
    expect((await plane.call("PATCH", "/runs/run-none", { notes: "x" })).status).toBe(404);
  });

  it("hides archived runs from lists unless they are asked for", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const first = await runningRun(plane, { tags: ["good"] });
    const refused = await plane.call("PATCH", `/runs/${first.id}`, { archived: true });
    expect(await refused.json()).toMatchObject({ error: { code: "conflict" } });
    await first.job.exit("succeeded");
    const second = await runningRun(plane);
    await second.job.exit("succeeded");
    const list = async (query: string) =>
      (await plane.json<{ items: Run[] }>("GET", `/runs?${query}`)).items.map(({ id }) => id);
    expect(await list("tag=good")).toEqual([first.id]);
    await plane.json("PATCH", `/runs/${first.id}`, { archived: true });
    expect(await list("")).toEqual([second.id]);
    expect(await list("state=succeeded")).toEqual([second.id]);
    expect(await list("tag=good")).toEqual([]);
    expect(await list("archived=true")).toEqual([first.id]);
    expect(await list("archived=true&state=succeeded&tag=good")).toEqual([first.id]);
    expect(await list("archived=true&state=failed")).toEqual([]);
    expect(await first.state()).toMatchObject({ archived: true });
    await plane.json("PATCH", `/runs/${first.id}`, { archived: false });
    expect(await list("")).toEqual([second.id, first.id]);
    expect(await list("state=succeeded")).toEqual([second.id, first.id]);
  });

  it("fills pages although archived runs lie in between", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const ids: string[] = [];
    for (let index = 0; index < 6; index++) {
      const run = await runningRun(plane);
      await run.job.exit("succeeded");
      if (index % 2 === 0) await plane.json("PATCH", `/runs/${run.id}`, { archived: true });
      else ids.unshift(run.id);
    }
    const seen: string[] = [];
    let after = "";
    do {
      const page = await plane.json<{ items: Run[]; next?: string }>("GET", `/runs?limit=2${after}`);
      seen.push(...page.items.map(({ id }) => id));
      after = page.next === undefined ? "" : `&after=${encodeURIComponent(page.next)}`;
    } while (after !== "");
    expect(seen).toEqual(ids);
  });
});
