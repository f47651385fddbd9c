import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Finding } from "../../../sdk/config/project-folder/finding.ts";
import type { Summary } from "../../../sdk/config/project-folder/play/statistics.ts";
import { BASE } from "../config/project-folder/check.ts";
import { projectFolder } from "../config/project-folder/folder.ts";
import { runCli } from "../cli/run-cli.ts";
import { bodiesOf, fakeGym, says } from "./gym.ts";

const ROWS = [2, 3, 4, 5, 6]
  .map((number) =>
    JSON.stringify({
      messages: [{ role: "user", content: "What is $a + $a? Not ${expected_answer}." }],
      rewards: ["accuracy"],
      variables: { a: number },
      metadata: { expected_answer: String(2 * number), secret: "only rewards see this" },
    }),
  )
  .join("\n");

const FILES = {
  "rewards.py": undefined,
  "rewards.ts": `import { reward } from "spotter";\nexport const accuracy = reward(() => 1);\n`,
  "config.yml": BASE.replace("Qwen/Qwen3-8B", "spotter/nano"),
  "train.jsonl": ROWS,
};

interface Printed {
  model: string;
  rollouts: {
    entry: number;
    sample: number;
    reward: number | null;
    errors: Record<string, unknown>;
    file: string | null;
    failure: { code: string } | null;
    conversation?: { role: string; content: string }[];
  }[];
  summary: Summary | null;
  findings: Finding[];
}

async function test(folder: string, words: string[], url: string) {
  const { code, out, err } = await runCli(["test", "-d", folder, ...words, "--json"], { url });
  expect(err).toBe("");
  return { code, json: JSON.parse(out) as Printed };
}

const isRight = (content: string, row: Record<string, unknown>) =>
  content === (row.metadata as { expected_answer: string }).expected_answer ? 1 : 0;

describe("spotter test --model mock", () => {
  it("plays rows without a model, judges them and prints mean, deviation and pass@k", async () => {
    const { url } = await fakeGym({ score: isRight });
    const folder = projectFolder(FILES);
    const { code, out } = await runCli(["test", "-d", folder, "-n", "3", "--model", "mock"], { url });
    expect(code).toBe(0);
    expect(out).toMatch(
      /^Rollout 1 \(row \d\): ✓ reward=1\.000 {2}\[accuracy=1\.000\] {2}→ rollouts\/rollout_1\/sample_1\.json$/m,
    );
    expect(out.match(/^Rollout /gm)).toHaveLength(3);
    expect(out).toContain(
      "Mean reward 1.000, standard deviation 0.000\npass@1 100.0% (right: a reward of 1 or more)",
    );
  });

  it("plays rows of which there are too few to train with, and says that", async () => {
    const { url } = await fakeGym();
    const folder = projectFolder({ ...FILES, "train.jsonl": ROWS.split("\n").slice(0, 1).join("\n") });
    const words = ["--model", "mock", "data.batch_size=4"];
    const { code, json } = await test(folder, words, url);
    expect([code, json.rollouts.length]).toEqual([0, 1]);
    expect(json.findings).toContainEqual(
      expect.objectContaining({
        code: "rows_few",
        severity: "warning",
        message: "is 4; train.jsonl has 1 row (data.batch_size=4)",
      }),
    );
    // Whoever trains them is refused as before.
    const dry = await runCli(["run", "-d", folder, "data.batch_size=4", "--dry-run", "--json"]);
    expect(dry.code).toBe(2);
  });

  it("prints whole conversations with --verbose, variables filled in and metadata kept back", async () => {
    const { url } = await fakeGym();
    const folder = projectFolder(FILES);
    const words = ["test", "-d", folder, "--entry", "1", "--model", "mock", "--verbose"];
    const { out } = await runCli(words, { url });
    expect(out).toContain("  user\n    What is 3 + 3? Not ${expected_answer}.\n  assistant\n    6\n");
    expect(out).not.toContain("only rewards see this");
  });

  it("takes rows by their place, all of them, or the same ones of a seed, none twice", async () => {
    const { url } = await fakeGym();
    const folder = projectFolder(FILES);
    const played = async (...words: string[]) =>
      (await test(folder, [...words, "--model", "mock"], url)).json.rollouts.map(({ entry }) => entry);
    expect(await played("--entry", "3,0", "--entry", "1")).toEqual([3, 0, 1]);
    expect(await played("--all")).toEqual([0, 1, 2, 3, 4]);
    const some = await played("-n", "4", "--seed", "7");
    expect(new Set(some).size).toBe(4);
    expect(await played("-n", "4", "--seed", "7")).toEqual(some);
    expect((await played("-n", "99")).toSorted()).toEqual([0, 1, 2, 3, 4]);
  });

  it("saves rollouts beside those of before, and writes over none", async () => {
    const { url } = await fakeGym({ score: isRight });
    const folder = projectFolder(FILES);
    mkdirSync(join(folder, "rollouts", "rollout_7"), { recursive: true });
    writeFileSync(join(folder, "rollouts", "rollout_7", "sample_1.json"), "old");
    const { json } = await test(folder, ["--entry", "0", "--repeat", "2", "--model", "mock"], url);
    expect(json.rollouts.map(({ file }) => file)).toEqual([
      "rollouts/rollout_8/sample_1.json",
      "rollouts/rollout_8/sample_2.json",
    ]);
    expect(readFileSync(join(folder, "rollouts", "rollout_7", "sample_1.json"), "utf8")).toBe("old");
    const saved = JSON.parse(readFileSync(join(folder, json.rollouts[1]?.file ?? ""), "utf8")) as object;
    expect(saved).toMatchObject({
      id: "rollout_8/sample_2",
      entry: 0,
      sample: 2,
      completed: true,
      success: true,
      total_reward: 1,
      rewards: { accuracy: 1 },
      turns: 1,
      completion: "4",
      conversation: [{ role: "user" }, { role: "assistant", content: "4" }],
    });
    await test(folder, ["--model", "mock", "--no-save"], url);
    expect(readdirSync(join(folder, "rollouts"))).toEqual(["rollout_7", "rollout_8"]);
  });

  it("counts what has no verdict apart from 0, tells why, and ends with 1", async () => {
    const { url } = await fakeGym({
      score: (content) => {
        if (content === "4") throw new Error("cannot read it");
        return content === "6" ? 0 : 1;
      },
    });
    const folder = projectFolder(FILES);
    const { code, json } = await test(folder, ["--entry", "0,1,2", "--model", "mock"], url);
    expect(code).toBe(1);
    expect(json.rollouts.map(({ reward }) => reward)).toEqual([null, 0, 1]);
    expect(json.rollouts[0]?.errors).toEqual({
      accuracy: { code: "reward_failed", message: "accuracy: cannot read it" },
    });
    expect(json.summary).toMatchObject({ rollouts: 3, failed: 0, invalid: 1, mean: 0.5, passAt: { 1: 0.5 } });
  });

  it("finds rows whose answers all get the same reward", async () => {
    const { url } = await fakeGym({ score: isRight });
    const words = ["test", "-d", projectFolder(FILES), "--all", "--repeat", "4", "--model", "mock"];
    const { out } = await runCli(words, { url });
    expect(out).toContain("pass@1 100.0%, pass@2 100.0%, pass@4 100.0%");
    expect(out).toContain("5 of 5 rows got the same reward each time: training learns nothing from them.");
  });
});

describe("spotter test with a model", () => {
  it("asks the endpoint for so many tokens as the window leaves, with a seed for each answer", async () => {
    const gym = await fakeGym({ chat: () => says("8"), score: isRight });
    const folder = projectFolder(FILES);
    const words = ["--entry", "2", "--repeat", "2", "--model", "nano", "rollout.max_context_window=128"];
    const { code, json } = await test(folder, words, gym.url);
    expect([code, json.rollouts.map(({ reward }) => reward)]).toEqual([0, [1, 1]]);
    const asked = bodiesOf(gym, "/chat/completions");
    expect(asked[0]).toMatchObject({ model: "nano", temperature: 1, messages: [{ role: "user" }] });
    expect(Number(asked[0]?.max_tokens)).toBeLessThan(128);
    expect(asked[0]?.seed).not.toBe(asked[1]?.seed);
    expect(JSON.stringify(asked)).not.toContain("only rewards see this");
  });

  it("hands on the tools, the secrets and the time limits of config.yml", async () => {
    const add = { name: "add", description: "Adds.", parameters: { type: "object" } };
    const toolCalls = [{ id: "c1", type: "function", function: { name: "add", arguments: '{"a":1}' } }];
    const gym = await fakeGym({
      tools: [add],
      callTool: () => 8,
      chat: ({ messages }) => says(messages.at(-1)?.role === "tool" ? "8" : "", { tool_calls: toolCalls }),
    });
    const tools = `import { tool } from "spotter";\nexport const add = tool({ description: "Adds.", parameters: {} }, () => 8);\n`;
    const folder = projectFolder({ ...FILES, "tools.ts": tools });
    const settings = ["rollout.max_turns=2", "rollout.tool_timeout=7", "rollout.reward_timeout=9"];
    const { code, json } = await test(
      folder,
      ["--entry", "2", "--model", "nano", "--secret", "JUDGE", "--verbose", ...settings],
      gym.url,
    );
    expect(code).toBe(0);
    expect(json.rollouts[0]?.conversation?.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
    ]);
    expect(bodiesOf(gym, "/chat/completions")[0]?.tools).toEqual([{ type: "function", function: add }]);
    expect(bodiesOf(gym, "/tools")[0]).toEqual({
      calls: [{ tool: "add", input: { a: 1 } }],
      timeoutMs: 7_000,
      secrets: ["JUDGE"],
    });
    expect(bodiesOf(gym, "/rewards")[0]).toMatchObject({ timeoutMs: 9_000, secrets: ["JUDGE"] });
  });

  it("fails the rollout that could not be played, plays the others, and ends with 1", async () => {
    let count = 0;
    const gym = await fakeGym({ chat: () => (count++ === 0 ? {} : says("6")) });
    const { code, json } = await test(projectFolder(FILES), ["--entry", "0,1", "--model", "nano"], gym.url);
    expect(code).toBe(1);
    expect(json.rollouts.map(({ failure }) => failure?.code)).toEqual(["engine_failed", undefined]);
    expect(json.summary).toMatchObject({ rollouts: 2, failed: 1, invalid: 0, mean: 1 });
  });

  it("asks a bare name at OPENAI_BASE_URL with OPENAI_API_KEY", async () => {
    const [gym, openAi] = await Promise.all([
      fakeGym({ score: isRight }),
      fakeGym({ chat: () => says("4") }),
    ]);
    vi.stubEnv("OPENAI_BASE_URL", `${openAi.url}/v1`);
    vi.stubEnv("OPENAI_API_KEY", "sk-of-openai");
    const { code, json } = await test(
      projectFolder(FILES),
      ["--entry", "0", "--model", "gpt-5-nano"],
      gym.url,
    );
    expect([code, json.model, json.rollouts[0]?.reward]).toEqual([0, "gpt-5-nano", 1]);
    const [request] = openAi.requests;
    expect(request?.headers.authorization).toBe("Bearer sk-of-openai");
    const body = JSON.parse(request?.body ?? "") as object;
    expect(body).toMatchObject({ model: "gpt-5-nano", max_completion_tokens: expect.any(Number) as number });
    expect(body).not.toHaveProperty("temperature");
    expect(bodiesOf(gym, "/chat/completions")).toEqual([]);
  });

  it("asks a server by its URL, with the model it names first or the one after #", async () => {
    const [gym, server] = await Promise.all([fakeGym(), fakeGym({ chat: () => says("4") })]);
    server.handlers["GET /v1/models"] = () => ({ data: [{ id: "first" }, { id: "second" }] });
    const folder = projectFolder(FILES);
    await test(folder, ["--model", `${server.url}/v1`], gym.url);
    await test(folder, ["--model", `${server.url}/v1#second`], gym.url);
    expect(bodiesOf(server, "/chat/completions").map(({ model }) => model)).toEqual(["first", "second"]);
  });
});

describe("spotter test with bad input", () => {
  it("runs no Python that nobody allowed, and ends with 2", async () => {
    const { url, requests } = await fakeGym();
    const { code, json } = await test(projectFolder(), ["--model", "mock"], url);
    expect(code).toBe(2);
    expect(json.findings).toMatchObject([
      { code: "engine_unsupported", severity: "error", file: "config.yml" },
    ]);
    expect(json.findings[0]?.message).toContain("rewards.py");
    expect(json.findings[0]?.hint).toContain("--allow-python");
    expect(requests).toEqual([]);
  });

  it.each([
    [["--entry", "0,9"], "There is no row 9: the file has 5."],
    [["--entry", "one"], "Rows are counted from 0"],
    [["-n", "0"], "It must be a whole number from 1"],
    [["--all", "-n", "2"], "-n and --all say different things."],
    [["--model", "gpt-5-nano"], "gpt-5-nano needs a key."],
    [["--model", "nothing"], "nothing cannot be served here"],
  ])("refuses %j", async (words, message) => {
    vi.stubEnv("OPENAI_BASE_URL", "");
    vi.stubEnv("OPENAI_API_KEY", "");
    const { url } = await fakeGym();
    const folder = projectFolder(FILES);
    const { code, err } = await runCli(["test", "-d", folder, ...words], { url });
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(existsSync(join(folder, "rollouts"))).toBe(false);
  });

  it("prints what validate would find, overrides included", async () => {
    const { url } = await fakeGym();
    const { code, json } = await test(projectFolder(FILES), ["--model", "mock", "rollout.max_turns=0"], url);
    expect(code).toBe(2);
    expect(json.findings[0]).toMatchObject({ code: "out_of_range", path: "rollout.max_turns" });
  });
});
