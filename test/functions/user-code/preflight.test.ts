import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adversarialRows } from "../../../functions/user-code/adversarial-rows.ts";
import { preflightRewards } from "../../../functions/user-code/preflight.ts";
import type { DatasetRow } from "../../../sdk/schema/dataset.ts";
import { openDeps, type OpenDeps } from "./open-deps.ts";

const rows: DatasetRow[] = Array.from({ length: 20 }, (_, index) => ({
  prompt: [{ role: "user", content: `Write about ${index}.` }],
  row: { keywords: "rain", text: `poem number ${index}`, index, metadata: { level: index } },
}));
const rewardThat = (body: string, timeoutMs = 300) => `import { reward } from "spotter";
export const fine = reward(() => 1);
export const judge = reward({ timeoutMs: ${timeoutMs} }, ({ row, response, metadata }, messages) => {
  ${body}
});`;

describe("preflightRewards", () => {
  let open: OpenDeps;
  beforeAll(() => {
    open = openDeps();
  });
  afterAll(() => open.close());

  it("accepts rewards that judge everything, on at most 8 rows", async () => {
    const setup = await open.upload(
      rewardThat(`return metadata.level + messages.length + response.content.length;`),
    );
    expect(await preflightRewards(open.deps, setup, rows)).toEqual({ judged: 32, warnings: [] });
    expect(await preflightRewards(open.deps, setup, [])).toEqual({ judged: 0, warnings: [] });
  });

  it.each([
    [
      "throws on an empty answer",
      `return response.content.match(/./)[0].length;`,
      "reward_failed",
      "an empty answer to row 1",
    ],
    [
      "throws on one row only",
      `if (row.index === 5) throw new Error("five"); return 1;`,
      "reward_failed",
      "to row 6",
    ],
    ["never ends", `for (;;);`, "reward_timeout", "an empty answer to row 1"],
    ["never answers", `return new Promise(() => {});`, "reward_timeout", "no answer within 300 ms"],
    ["always returns NaN", `return NaN;`, "reward_invalid", "it returned NaN"],
    ["returns text", `return "good";`, "reward_invalid", 'it returned the text "good"'],
    [
      "fills memory",
      `const all = []; for (;;) all.push(new Array(1e6).fill(1.5));`,
      "isolate_out_of_memory",
      "MiB",
    ],
  ])("refuses a reward that %s (55)", async (_, body, code, message) => {
    const setup = await open.upload(rewardThat(body, code === "reward_timeout" ? 300 : 10_000));
    const error = await preflightRewards(open.deps, setup, rows).catch((e: unknown) => e);
    expect(error).toMatchObject({ code, status: 400, hint: expect.any(String) as string });
    expect((error as Error).message).toMatch(/^Reward "judge" on /);
    expect((error as Error).message).toContain(message);
  });

  it("refuses a reward that asks a judge without the secrets to ask with, and asks nobody otherwise", async () => {
    const setup = await open.upload(
      `import { reward } from "spotter";
export const kind = reward(async ({ response, judge }) =>
  response.content === "" ? 0 : (await judge({ model: "m", prompt: "Kind?" })).score);`,
    );
    await expect(preflightRewards(open.deps, setup, rows)).rejects.toMatchObject({
      code: "reward_failed",
      status: 400,
      message: expect.stringMatching(
        /^Reward "kind" on .* to row 1: judge: it needs the secrets OPENAI_API_KEY/,
      ) as string,
      hint: expect.stringContaining("--secret OPENAI_API_KEY") as string,
    });
    await open.deps.secrets.set("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    const granted = { ...setup, code: { ...setup.code, secrets: ["OPENAI_BASE_URL"] } };
    expect(await preflightRewards(open.deps, granted, rows)).toEqual({ judged: 32, warnings: [] });
  });

  it("names the line that threw", async () => {
    const setup = await open.upload(rewardThat(`throw new Error("always");`));
    await expect(preflightRewards(open.deps, setup, rows)).rejects.toMatchObject({ where: "rewards.ts:4:9" });
  });

  it("warns of a reward that has no verdict on some answers", async () => {
    const words = `const words = response.content.split(/\\s+/).filter(Boolean);`;
    const mean = await open.upload(rewardThat(`${words} return words.join("").length / words.length;`));
    const { warnings } = await preflightRewards(open.deps, mean, rows);
    expect(warnings).toEqual([
      "judge gave no verdict on 8 of 32 tried answers; on an empty answer to row 1: it returned NaN; a score must be finite",
    ]);
  });
});

describe("adversarialRows", () => {
  it("tries nothing, the row's own text, a long text and Unicode", () => {
    const probes = adversarialRows([{ prompt: [], completion: "the answer", row: {} }]);
    expect(probes.map(({ row }) => row.response.content.length > 0)).toEqual([false, true, true, true]);
    expect(probes[1]?.row.response.content).toBe("the answer");
    expect(probes.at(-1)?.row.messages.at(-1)).toEqual({
      role: "assistant",
      content: probes.at(-1)?.row.response.content,
    });
  });

  it("takes the longest column for want of a completion, and none for want of texts", () => {
    const own = adversarialRows([{ prompt: [], row: { a: "short", b: "longer text", c: 1 } }])[1];
    expect(own?.row.response.content).toBe("longer text");
    expect(adversarialRows([{ prompt: [], row: { c: 1 } }])).toHaveLength(3);
  });
});
