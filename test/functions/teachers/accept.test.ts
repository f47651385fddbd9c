import { describe, expect, it, onTestFinished } from "vitest";
import type { TeacherSpec } from "../../../sdk/schema/teacher.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

const URL = { baseUrl: "http://127.0.0.1:9/v1", model: "m" };

async function distillation(plane: TestPlane, teacher: Partial<TeacherSpec>): Promise<object> {
  const { rewards: _rewards, ...spec } = await preparedSpec(plane);
  return { ...spec, kind: "distill", algorithm: { kind: "distill" }, teacher };
}

describe("a teacher that cannot teach", () => {
  it.each<[string, Partial<TeacherSpec>, string, string]>([
    ["an unknown model", { model: { name: "acme/none" } }, "model_not_found", "teacher.model.name"],
    ["an unknown checkpoint", { checkpoint: "run-none@3" }, "checkpoint_not_found", "run-none@3"],
    ["an unknown endpoint", { endpoint: "none" }, "model_not_found", "teacher.endpoint"],
    ["a secret that is not set", { url: { ...URL, secret: "NONE" } }, "not_found", "NONE"],
  ])(
    "is refused by a launch as by an estimate, and nothing is started: %s",
    async (_, teacher, code, told) => {
      const plane = await testPlane({ onEnd: onTestFinished });
      const spec = await distillation(plane, teacher);
      for (const path of ["/runs", "/runs/estimate"]) {
        const response = await plane.call("POST", path, spec);
        const text = await response.text();
        expect([path, response.status >= 400 && response.status < 500, text]).toEqual([path, true, text]);
        expect(JSON.parse(text)).toMatchObject({ error: { code, hint: expect.any(String) as string } });
        expect(text).toContain(told);
      }
      expect(plane.containers.launched).toEqual([]);
    },
  );

  it("is looked for where its path leads, as a model that trains is", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    plane.control.modelFault = (path) => Promise.resolve(path === "/models/good" ? undefined : "is empty");
    const spec = await distillation(plane, { model: { name: "/models/empty.gguf" } });
    const refusal = async (body: object) => (await plane.call("POST", "/runs", body)).json();
    expect(await refusal(spec)).toMatchObject({
      error: {
        code: "model_not_found",
        where: "teacher.model.name",
        message: "/models/empty.gguf is empty.",
      },
    });
    expect(await refusal({ ...spec, model: { name: "/etc" } })).toMatchObject({
      error: { code: "model_not_found", where: "model.name", message: "/etc is empty." },
    });
    const good = await distillation(plane, { model: { name: "/models/good" } });
    expect((await plane.call("POST", "/runs", good)).status).toBe(201);
    expect((await plane.call("POST", "/runs/estimate", good)).status).toBe(200);
  });
});
