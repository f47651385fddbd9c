import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judgeRows } from "../../../functions/user-code/judge.ts";
import type { RewardRow } from "../../../sdk/schema/rollout.ts";
import type { RewardSetup } from "../../../sdk/schema/run-spec.ts";
import { openDeps, type OpenDeps } from "./open-deps.ts";

const SOURCE = `
import { reward } from "spotter";
export const short = reward({ weight: 0.5 }, ({ response }) => -response.content.length);
export const polite = reward({ precondition: true }, async ({ response, metadata, variables }, messages) => {
  if (messages.length !== 1 || metadata.m !== 1 || variables.v !== 2) throw new Error("wrong arguments");
  return response.content.includes("rude") ? 0 : 1;
});
export const picky = reward({ timeoutMs: 200 }, ({ response, secrets, row }) => {
  if (response.content === "loop") for (;;);
  if (response.content === "throw") throw new Error("key " + secrets.API_KEY);
  if (response.content === "NaN") return Number.NaN;
  return { score: row.points, reason: secrets.API_KEY ? "with key" : "without" };
});
`;

describe("judgeRows", () => {
  let open: OpenDeps;
  let setup: RewardSetup;
  beforeAll(async () => {
    open = openDeps();
    setup = await open.upload(SOURCE);
  });
  afterAll(() => open.close());

  it("judges every row with every reward, in order", async () => {
    const rows = Array.from({ length: 150 }, (_, index) => row("x".repeat(index)));
    const verdicts = await judgeRows(open.deps, setup, rows);
    expect(verdicts.map((verdict) => verdict.total)).toEqual(rows.map((_, index) => 1 + 3 - 0.5 * index));
    expect(verdicts[2]?.scores).toEqual({
      short: { score: -2, weight: 0.5, precondition: false },
      polite: { score: 1, weight: 1, precondition: true },
      picky: { score: 3, weight: 1, precondition: false, reason: "without" },
    });
  });

  it("leaves the total out where a reward gave no verdict, and never scores it 0 (48) (52)", async () => {
    const contents = ["fine", "loop", "throw", "NaN", "rude"];
    const verdicts = await judgeRows(open.deps, setup, contents.map(row));
    expect(verdicts.map((verdict) => verdict.total)).toEqual([2, undefined, undefined, undefined, 0]);
    expect(verdicts.map((verdict) => verdict.errors["picky"]?.code)).toEqual([
      undefined,
      "reward_timeout",
      "reward_failed",
      "reward_invalid",
      undefined,
    ]);
    expect(verdicts[2]?.errors["picky"]?.message).toContain("rewards.ts:10:43");
    expect(verdicts[1]?.scores["short"]?.score).toBe(-4);
  });

  it("compares answers by their mathematics inside the isolate", async () => {
    const own = await open.upload(`import { mathEqual, reward } from "spotter";
      export const accuracy = reward(({ response, metadata }) => mathEqual(metadata.answer, response.content) ? 1 : 0);`);
    const rows = [row("so \\boxed{\\frac{\\sqrt{2}}{2}}"), row("$\\frac{1}{\\sqrt{3}}$")].map((each) => ({
      ...each,
      metadata: { answer: "$\\frac{1}{\\sqrt{2}}$" },
    }));
    const verdicts = await judgeRows(open.deps, own, rows);
    expect(verdicts.map(({ total }) => total)).toEqual([1, 0]);
  });

  it("judges with the named rewards only", async () => {
    const [verdict] = await judgeRows(open.deps, { ...setup, names: ["short"] }, [row("four")]);
    expect(verdict).toEqual({
      total: -2,
      scores: { short: { score: -4, weight: 0.5, precondition: false } },
      errors: {},
    });
  });

  it("hands over granted secrets, the newest value, and blacks them out in errors", async () => {
    const granted = { ...setup, names: ["picky"], code: { ...setup.code, secrets: ["API_KEY"] } };
    await expect(judgeRows(open.deps, granted, [row("fine")])).rejects.toMatchObject({ code: "not_found" });
    await open.deps.secrets.set("API_KEY", "first-value");
    const [with1] = await judgeRows(open.deps, granted, [row("fine")]);
    expect(with1?.scores["picky"]?.reason).toBe("with key");
    await open.deps.secrets.set("API_KEY", "second-value");
    const [failed] = await judgeRows(open.deps, granted, [row("throw")]);
    expect(failed?.errors["picky"]?.message).toContain("key [secret API_KEY]");
  });

  it("says which code or reward is not there", async () => {
    const unknown = { ...setup, code: { sha256: "0".repeat(64), secrets: [] } };
    await expect(judgeRows(open.deps, unknown, [])).rejects.toMatchObject({ code: "not_found" });
    await expect(judgeRows(open.deps, { ...setup, names: ["shrt"] }, [])).rejects.toMatchObject({
      code: "reward_missing",
      message: expect.stringContaining('did you mean "short"?') as string,
    });
  });
});

function row(content: string): RewardRow {
  return {
    row: { points: 3 },
    metadata: { m: 1 },
    variables: { v: 2 },
    response: { content, reasoning: "", toolCalls: [] },
    completion: { tokens: 1, finishReason: "stop" },
    messages: [{ role: "assistant", content }],
  };
}
