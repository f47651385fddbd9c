import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../cli/run-cli.ts";
import { BASE } from "../config/project-folder/check.ts";
import { projectFolder } from "../config/project-folder/folder.ts";
import type { FakeServer } from "../fake-server.ts";
import { endpointRecord } from "../records.ts";
import { bodiesOf, fakeGym, says } from "./gym.ts";

const FILES = {
  "rewards.py": undefined,
  "rewards.ts": `import { reward } from "spotter";\nexport const accuracy = reward(() => 1);\n`,
};

/** A gym where endpoints are launched as on a real one. */
async function gymWith(
  ready: { name: string; model: string; checkpoint?: string }[] = [],
): Promise<FakeServer> {
  const gym = await fakeGym({ chat: () => says("4") });
  const records = ready.map(({ name, model, checkpoint }) =>
    endpointRecord({ name, state: "ready", model: { name: model }, ...(checkpoint && { checkpoint }) }),
  );
  gym.handlers["GET /endpoints"] = () => ({ items: records });
  gym.handlers["POST /endpoints"] = ({ body }) => {
    const { model } = JSON.parse(body) as { model: { name: string } };
    return endpointRecord({ name: "launched", state: "creating", model });
  };
  gym.handlers["GET /endpoints/launched"] = () => endpointRecord({ name: "launched", state: "ready" });
  return gym;
}

async function test(gym: FakeServer, files: Record<string, string | undefined>, words: string[] = []) {
  const folder = projectFolder({ ...FILES, ...files });
  const result = await runCli(["test", "-d", folder, "--no-save", ...words], { url: gym.url });
  const done = gym.requests
    .map(({ method, path }) => `${method} ${path}`)
    .filter((each) => !/user-code/.test(each));
  return { ...result, folder, asked: bodiesOf(gym, "/chat/completions"), done };
}

const withModel = (name: string) => ({ "config.yml": BASE.replace("Qwen/Qwen3-8B", name) });

describe("without --model", () => {
  it("has the project's own model served for a while, and stops nothing that others may use by then", async () => {
    const gym = await gymWith();
    const { code, out, asked, done } = await test(gym, withModel("spotter/nano"));
    expect([code, out]).toEqual([0, expect.stringContaining("Playing with spotter/nano\n")]);
    expect(asked).toMatchObject([{ model: "launched" }]);
    expect(done.filter((each) => each.startsWith("DELETE"))).toEqual([]);
    expect(bodiesOf(gym, "/endpoints")).toEqual([{ model: { name: "spotter/nano" }, implicit: true }]);
  });

  it("asks an endpoint that serves it already, and leaves it alone", async () => {
    const gym = await gymWith([
      { name: "trained", model: "Qwen/Qwen3-8B", checkpoint: "run1@3" },
      { name: "mine", model: "Qwen/Qwen3-8B" },
    ]);
    const { out, asked, done } = await test(gym, {});
    expect(out).toContain("Playing with Qwen/Qwen3-8B (endpoint mine)\n");
    expect(asked).toMatchObject([{ model: "mine" }]);
    expect(done.filter((each) => /^(?:POST|DELETE) \/endpoints/.test(each))).toEqual([]);
  });

  it("takes the model that local_model names", async () => {
    const { out } = await test(await gymWith(), { local_model: "spotter/nano\n" });
    expect(out).toContain("Playing with spotter/nano\n");
  });

  it("launches nothing elsewhere that was not asked for, and says what to pass", async () => {
    const { code, err, done } = await test(await gymWith(), {});
    expect(code).toBe(2);
    expect(err).toContain("Qwen/Qwen3-8B is served by no endpoint.");
    expect(err).toMatch(/Pass --model: spotter\/nano, mock .*run@step/);
    expect(done).not.toContain("POST /endpoints");
  });
});

describe("with --model", () => {
  it("launches what it names: a folder is seen from where the command runs", async () => {
    const gym = await gymWith();
    await test(gym, {}, ["--model", "Qwen/Qwen3-0.6B"]);
    const weights = projectFolder({
      "weights/config.json": "{}",
      "weights/tokenizer.json": "{}",
      "weights/model.safetensors": "",
    });
    const place = join(weights, "weights");
    await test(gym, {}, ["--model", relative(process.cwd(), place)]);
    const launched = bodiesOf(gym, "/endpoints").map(({ model }) => (model as { name: string }).name);
    expect(launched).toEqual(["Qwen/Qwen3-0.6B", place]);
  });

  it("asks run@step by its name, as a chat does", async () => {
    const gym = await gymWith();
    gym.handlers["GET /v1/models/run1@20"] = () => ({ id: "run1@20" });
    const { asked } = await test(gym, {}, ["--model", "run1@20"]);
    expect(asked).toMatchObject([{ model: "run1@20" }]);
  });
});
