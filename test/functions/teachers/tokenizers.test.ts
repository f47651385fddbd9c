import { describe, expect, it, onTestFinished } from "vitest";
import type { PushModelReply } from "../../../sdk/schema/model.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { difference } from "../../../functions/teachers/tokenizers.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

async function push(plane: TestPlane, name: string, tokenizer: object): Promise<void> {
  const files: Record<string, string> = {
    "config.json": "{}",
    "tokenizer.json": JSON.stringify(tokenizer),
    "model.safetensors": name,
  };
  const announced = Object.entries(files).map(([path, text]) => ({
    path,
    size: text.length,
    sha256: sha256Of(text),
  }));
  const body = { name, files: announced };
  const { sha256, missing } = await plane.json<PushModelReply>("POST", "/models", body);
  for (const path of missing) await plane.call("PUT", `/models/${sha256}/files/${path}`, files[path]);
  await plane.json("POST", "/models", body);
}

describe("tokenizers of student and teacher", () => {
  it("are the same where the teacher has all tokens of the student, and may have more", () => {
    const student = new Map([["a", 0]]);
    expect(
      difference(
        student,
        new Map([
          ["a", 0],
          ["b", 1],
        ]),
      ),
    ).toBeUndefined();
    expect(
      difference(
        student,
        new Map([
          ["b", 0],
          ["a", 1],
        ]),
      ),
    ).toBe('1 of 1 tokens have other ids, the first is "a"');
  });

  it("are those of a stored model that one word names, where no endpoint has that name", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const vocab = { hello: 0, world: 1 };
    await push(plane, "small", { model: { vocab } });
    await push(plane, "elder", { model: { vocab } });
    await push(plane, "stranger", { model: { vocab: { hello: 1, world: 0 } } });
    const { rewards: _rewards, ...spec } = await preparedSpec(plane);
    const launch = (endpoint: string) =>
      plane.call("POST", "/runs", {
        ...spec,
        kind: "distill",
        algorithm: { kind: "distill" },
        model: { name: "small" },
        teacher: { endpoint },
      });
    const launched = (await (await launch("elder")).json()) as RunDetail;
    expect(launched.spec.teacher).toEqual({
      model: { name: "elder", revision: expect.any(String) as string },
      agentic: false,
    });
    expect(await (await launch("stranger")).json()).toMatchObject({ error: { code: "tokenizer_mismatch" } });
    expect(await (await launch("nobody")).json()).toMatchObject({
      error: {
        code: "model_not_found",
        where: "teacher.endpoint",
        message: 'There is no endpoint and no stored model "nobody" to teach.',
        hint: expect.stringContaining("spotter model pull hf:") as string,
      },
    });
  });

  it("are compared before anything is launched (A37)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const vocab = { hello: 0, world: 1 };
    await push(plane, "acme/small", { model: { vocab } });
    await push(plane, "acme/large", { model: { vocab }, added_tokens: [{ id: 2, content: "<think>" }] });
    await push(plane, "other/large", { model: { vocab: { hello: 1, world: 0 } } });
    const { rewards: _rewards, ...spec } = await preparedSpec(plane);
    const launch = (teacher: string) =>
      plane.call("POST", "/runs", {
        ...spec,
        kind: "distill",
        algorithm: { kind: "distill" },
        model: { name: "acme/small" },
        teacher: { model: { name: teacher } },
      });
    const refused = await launch("other/large");
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: {
        code: "tokenizer_mismatch",
        message: expect.stringContaining('the first is "hello"') as string,
      },
    });
    const { run } = (await (await launch("acme/large")).json()) as RunDetail;
    expect(run).toMatchObject({ kind: "distill", state: "queued" });
    await plane.reconciler.settle();
    expect(plane.containers.launched.map(({ kind }) => kind).sort()).toEqual(["serve", "train"]);
  });
});
