import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../sdk/endpoint.ts";
import { Dataset, models, recipes, TrainConfig } from "../../sdk/index.ts";
import { teacherOf, type Teacher } from "../../sdk/teacher.ts";

const plain = { agentic: false };

describe("a teacher", () => {
  it.each<[Teacher, object]>([
    ["spotter/nano", { model: { name: "spotter/nano" } }],
    [models.get("spotter/nano"), { model: { name: "spotter/nano" } }],
    ["poet@40", { checkpoint: "poet@40" }],
    ["my-endpoint", { endpoint: "my-endpoint" }],
    [{ endpoint: { name: "mine" } as Endpoint }, { endpoint: "mine" }],
    [
      { model: "Qwen/Qwen3-4B", agentic: true },
      { model: { name: "Qwen/Qwen3-4B" }, agentic: true },
    ],
    [
      { url: { baseUrl: "http://a.test/v1", model: "m" } },
      { url: { baseUrl: "http://a.test/v1", model: "m" } },
    ],
  ])("%j", (given, expected) => {
    expect(teacherOf(given)).toEqual({ ...plain, ...expected });
  });

  it.each<[unknown, string]>([
    [{}, "exactly one of model, checkpoint, endpoint and url"],
    [{ model: "spotter/nano", endpoint: "mine" }, "exactly one"],
    [{ url: { baseUrl: "ftp://a.test", model: "m" } }, "http or https URL"],
    [{ modle: "spotter/nano" }, 'did you mean "model"?'],
    [7, "nothing that could teach"],
  ])("is refused: %j", (given, message) => {
    expect(() => teacherOf(given as Teacher)).toThrow(message);
  });
});

describe("a TrainConfig", () => {
  const dataset = Dataset.fromArray([{ ask: "hm" }], { inputColumn: "ask" });
  const params = { model: "spotter/nano", dataset };

  it("has a teacher where it distils, and nowhere else", () => {
    const recipe = recipes.distill({ steps: 1 });
    expect(() => new TrainConfig({ ...params, recipe })).toThrow("teacher: missing");
    const sft = { ...params, recipe: recipes.sft({ steps: 1 }), teacher: "spotter/nano" };
    expect(() => new TrainConfig(sft)).toThrow("nobody asks it in a sft recipe");
    expect(() => recipes.distill({ steps: 1, normalizeStd: true } as never)).toThrow("unknown key");
  });

  it("sends it with the defaults filled in, and says that tools need an agentic one", async () => {
    const recipe = recipes.distill({ steps: 1, maxTokens: 8 });
    expect(await new TrainConfig({ ...params, recipe, teacher: "poet@40" }).spec()).toMatchObject({
      kind: "distill",
      teacher: { checkpoint: "poet@40", agentic: false },
      algorithm: { kind: "distill", answers: "student", klCoef: 1 },
      rollout: { maxTokens: 8, samplesPerPrompt: 8, temperature: 1 },
    });
    const turns = recipes.distill({ steps: 1, maxTurns: 2 });
    await expect(new TrainConfig({ ...params, recipe: turns, teacher: "poet@40" }).spec()).rejects.toThrow(
      "teacher.agentic: is false, and there are tools or several turns; set it to true",
    );
    const off = recipes.distill({ steps: 1, answers: "teacher" });
    const agentic = { checkpoint: "poet@40", agentic: true };
    await expect(new TrainConfig({ ...params, recipe: off, teacher: agentic }).spec()).rejects.toThrow(
      "algorithm.answers: of the teacher are one to a prompt",
    );
  });
});
