import { describe, expect, it, onTestFinished } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";

const file = (path: string, content: string) => ({ path, size: content.length, sha256: sha256Of(content) });

describe("a checkpoint", () => {
  it("exists when all its files are there, and not before (27)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const files = [file("model/a", "aaa"), file("trainer/b", "bbbb")];
    const begun = await job.call<{ uploads: { path: string; url: string }[] }>("POST", "/checkpoints", {
      ...{ attempt: 1, step: 2, kind: "full", files, metrics: { reward: 1 } },
    });
    expect(begun.uploads.map(({ path }) => path)).toEqual(["model/a", "trainer/b"]);
    const put = (index: number, content: string) =>
      plane.call("PUT", new URL(begun.uploads[index]?.url ?? "").pathname, content, job.token);
    expect((await put(0, "aaa")).status).toBe(204);
    const early = await job.answer("POST", "/checkpoints/2/complete", { attempt: 1 });
    expect(await early.json()).toMatchObject({ error: { code: "blob_corrupt", where: "trainer/b" } });
    expect((await put(1, "XXXX")).status).toBe(500);
    expect(await plane.json("GET", `/runs/${id}/checkpoints`)).toEqual({ items: [] });
    expect((await plane.call("GET", `/checkpoints/${id}@2`)).status).toBe(404);
    expect((await put(1, "bbbb")).status).toBe(204);
    const checkpoint = await job.call<Checkpoint>("POST", "/checkpoints/2/complete", { attempt: 1 });
    expect(await plane.json("GET", `/runs/${id}/checkpoints`)).toEqual({ items: [checkpoint] });
    expect(await job.call("POST", "/checkpoints/2/complete", { attempt: 1 })).toEqual(checkpoint);

    expect(readFileSync(join(checkpoint.path, "model/a"), "utf8")).toBe("aaa");
    expect(JSON.parse(readFileSync(join(checkpoint.path, "checkpoint.json"), "utf8"))).toEqual(checkpoint);
    const download = await plane.call(
      "GET",
      `/checkpoints/${encodeURIComponent(checkpoint.id)}/files/trainer/b`,
    );
    expect(await download.text()).toBe("bbbb");
    const none = await plane.call("GET", `/checkpoints/${checkpoint.id}/files/model/zzz`);
    expect(await none.json()).toMatchObject({ error: { hint: "It has model/a, trainer/b." } });
  });

  it("takes announced files only", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    const files = [file("model/a", "aaa")];
    await job.call("POST", "/checkpoints", { attempt: 1, step: 2, kind: "full", files });
    expect((await job.answer("PUT", "/uploads/2/model/other", "x")).status).toBe(404);
    expect((await job.answer("PUT", "/uploads/7/model/a", "aaa")).status).toBe(404);
    const none = await job.answer("POST", "/checkpoints", { attempt: 1, step: 2, kind: "full", files: [] });
    expect(none.status).toBe(400);
    const up = [{ ...files[0], path: "model/../../x" }];
    expect(
      (await job.answer("POST", "/checkpoints", { attempt: 1, step: 2, kind: "full", files: up })).status,
    ).toBe(400);
  });

  it("keeps the files of different attempts apart (30)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const checkpoint = await job.save(2);
    expect(checkpoint.path).toContain("2-a1");
    expect(checkpoint.id).toBe(`${id}@2`);
  });
});
