import { describe, expect, it } from "vitest";
import type { Entry } from "../../../sdk/config/project-folder/play/player.ts";
import { cannotTell, runRewards } from "../../../sdk/config/project-folder/play/rewards-only.ts";
import type { RewardRow, Verdict } from "../../../sdk/schema/rollout.ts";
import { runCli } from "../cli/run-cli.ts";
import { BASE } from "../config/project-folder/check.ts";
import { projectFolder } from "../config/project-folder/folder.ts";
import { bodiesOf, fakeGym } from "./gym.ts";

const signal = new AbortController().signal;

async function* rows(count: number): AsyncGenerator<Entry> {
  for (let index = 0; index < count; index++) {
    const metadata = index === 3 ? { expected_answer: null } : { expected_answer: String(index) };
    yield { index, row: { prompt: [{ role: "user", content: "Go." }], row: { metadata } } };
  }
}

function judged(row: RewardRow): Verdict {
  const { content } = row.response;
  const score = (value: number) => ({ score: value, weight: 1, precondition: false });
  if (content === "7")
    return { scores: { gate: score(1) }, errors: { right: { code: "reward_failed", message: "7!" } } };
  return {
    total: 1,
    scores: { right: score(content === "" ? 0 : Number(content)), gate: score(1) },
    errors: {},
  };
}

it("runs every reward over every row, on the expected answer and on an empty one", async () => {
  let largest = 0;
  let calls = 0;
  const code = {
    rewards: ["right", "gate", "unused"],
    async judge(batch: RewardRow[]) {
      largest = Math.max(largest, batch.length);
      calls++;
      return batch.map(judged);
    },
  };
  const report = await runRewards(rows(200), code, signal);
  expect(report).toMatchObject({ rows: 200, rowsWithAnswer: 199 });
  const [right, gate, unused] = report.rewards;
  expect(right).toEqual({
    name: "right",
    expected: { n: 198, mean: expect.closeTo((199 * 100 - 10) / 198, 9) as number, min: 0, max: 199 },
    empty: { n: 200, mean: 0, min: 0, max: 0 },
    invalid: 1,
    firstError: { entry: 7, answer: "expected", code: "reward_failed", message: "7!" },
  });
  expect(gate?.expected?.n).toBe(199);
  expect([right, gate, unused].map((each) => each && cannotTell(each))).toEqual([false, true, false]);
  // Rows are judged as they are read: a gigabyte of them is never held.
  expect([largest <= 130, calls > 1]).toEqual([true, true]);
});

describe("spotter test --rewards-only", () => {
  const row = { messages: [{ role: "user", content: "2 + 2?" }], rewards: ["accuracy"] };
  const project = () =>
    projectFolder({
      "rewards.py": undefined,
      "rewards.ts": `import { reward } from "spotter";\nexport const accuracy = reward(() => 1);\n`,
      "config.yml": BASE.replace("Qwen/Qwen3-8B", "spotter/nano"),
      "train.jsonl": Array.from({ length: 4 }, () =>
        JSON.stringify({ ...row, metadata: { expected_answer: "4" } }),
      ).join("\n"),
    });

  it("asks no model, prints what each reward gives, and ends with 0", async () => {
    const gym = await fakeGym({ score: (content) => (content === "4" ? 1 : 0) });
    const { code, out } = await runCli(["test", "-d", project(), "--rewards-only"], { url: gym.url });
    expect(code).toBe(0);
    expect(out).toContain("4 rows, 4 with an expected answer");
    expect(out).toMatch(/^accuracy +1\.000 +0\.000 +0$/m);
    expect(gym.requests.some(({ path }) => /endpoints|chat/.test(path))).toBe(false);
    expect(bodiesOf(gym, "/rewards")[0]?.rows).toHaveLength(8);
  });

  it("ends with 1 where a reward gives no verdict, and says on which row", async () => {
    const gym = await fakeGym({
      score: (content) => {
        if (content === "") throw new Error("empty");
        return 1;
      },
    });
    const { code, out } = await runCli(["test", "-d", project(), "--rewards-only"], { url: gym.url });
    expect(code).toBe(1);
    expect(out).toContain("no verdict row 0, empty answer: accuracy: empty [reward_failed]");
  });
});
