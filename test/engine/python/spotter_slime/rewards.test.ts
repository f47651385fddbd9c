import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noVerdict, score } from "../../fake-control-plane.ts";
import { HEAD, host } from "../slime-host.ts";
import { hasPython } from "../spotter_agent/has-python.ts";
import { runPython } from "../spotter_agent/run-python.ts";

describe.runIf(hasPython)("rewards inside slime", () => {
  it("judge the answer taken apart, and tell no verdict from 0", async () => {
    const { plane, env } = await host();
    const asked: unknown[] = [];
    plane.judge = (rows) => {
      asked.push(...rows);
      return rows.map(({ response }) =>
        response.content === "odd" ? noVerdict() : score(response.content.length),
      );
    };
    const lines = await runPython(
      `${HEAD}
one = sample(); one.response = "<think>well</think>four"; one.response_length = 9; one.status = Sample.Status.COMPLETED
odd = sample(); odd.response = "odd"; odd.status = Sample.Status.TRUNCATED
async def main():
    show(await spotter_slime.reward(args, one))
    show(await spotter_slime.reward(args, [one, odd]))
    show(odd.remove_sample)
asyncio.run(main())
`,
      env,
    );
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([4, [4, "none"], true]);
    expect(asked[0]).toEqual({
      row: { metadata: { n: 1 }, x: 2 },
      metadata: { n: 1 },
      variables: {},
      response: { content: "four", reasoning: "well", toolCalls: [] },
      completion: { tokens: 9, finishReason: "stop" },
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "four", reasoning_content: "well" },
      ],
    });
    expect(asked[2]).toMatchObject({ completion: { finishReason: "length" } });
  });

  it("judge a dataset of slime's own by its label", async () => {
    const { plane, env } = await host();
    const asked: unknown[] = [];
    plane.judge = (rows) => (asked.push(...rows), rows.map(() => score(1)));
    await runPython(
      `${HEAD}
one = Sample(prompt="2+2?", metadata={"source": "aime"}); one.label = "4"; one.response = "4"
show(asyncio.run(spotter_slime.reward(args, one)))
`,
      env,
    );
    expect(asked).toMatchObject([
      {
        row: { label: "4", metadata: { source: "aime" } },
        metadata: { source: "aime" },
        messages: [
          { role: "user", content: "2+2?" },
          { role: "assistant", content: "4" },
        ],
      },
    ]);
  });

  it("are compared within the group among those with a verdict, as slime normalises", async () => {
    const { env } = await host();
    const lines = await runPython(
      `${HEAD}
def group(*rewards):
    return [Sample(reward=each) for each in rewards]
def near(values): return [round(each, 4) for each in values]
first = group(1, 3, None, 5, 5, float("nan"))
raw, learnt = spotter_slime.post_process(args, first)
show([near(raw), near(learnt), [each.remove_sample for each in first]])
# Without a missing verdict it is what slime makes of them by itself.
raw, learnt = spotter_slime.post_process(args, group(0, 1, 5, 2, 2, 2))
show([near(raw), near(learnt)])
args.grpo_std_normalization = False
show(near(spotter_slime.post_process(args, group(0, 1, 5, 2, 2, 2))[1]))
args.advantage_estimator = "ppo"
show(near(spotter_slime.post_process(args, group(0, None, 5, 2, 2, 2))[1]))
# A group that nobody judged does not move the mean of the others.
show(near(spotter_slime.post_process(args, group(4, 4, 4, None, float("nan"), None))[0]))
`,
      env,
    );
    const parsed = lines.map((line) => JSON.parse(line) as unknown);
    expect(parsed[0]).toEqual([
      [1, 3, 2, 5, 5, 5],
      [-0.7071, 0.7071, 0, 0, 0, 0],
      [false, false, true, false, false, true],
    ]);
    // (x - mean) / (std + 1e-6) with the spread of the sample: torch.std of (0, 1, 5) is 2.6458.
    expect(parsed[1]).toEqual([
      [0, 1, 5, 2, 2, 2],
      [-0.7559, -0.378, 1.1339, 0, 0, 0],
    ]);
    expect(parsed[2]).toEqual([-2, -1, 3, 0, 0, 0]);
    expect(parsed[3]).toEqual([0, 0, 5, 2, 2, 2]);
    expect(parsed[4]).toEqual([4, 4, 4, 4, 4, 4]);
  });

  it("in Python run in a process of their own, without the job's token", async () => {
    const { env, dir } = await host();
    await writeFile(
      join(dir, "rewards.py"),
      `import os
from rnow.core import RewardArgs, get_response, reward

@reward
def length(args: RewardArgs, messages: list) -> float:
    assert "SPOTTER_JOB_TOKEN" not in os.environ
    return len(get_response(messages)) + args.metadata["n"]

@reward(precondition=True)
async def fine(args: RewardArgs, messages: list) -> float:
    return 0.0 if "bad" in get_response(messages) else 1.0
`,
    );
    const python = { folder: dir, files: ["rewards.py"], rewards: { file: "rewards.py", timeoutMs: 5_000 } };
    await writeFile(env["SPOTTER_SLIME_SETUP"] ?? "", JSON.stringify({ rollout: {}, python }));
    const lines = await runPython(
      `${HEAD}
good = sample(); good.response = "four"
bad = sample(); bad.response = "bad"
none = sample(rewards=["nobody"]); none.response = "x"
async def main():
    show([await spotter_slime.reward(args, each) for each in (good, bad, none)])
    show(none.metadata["spotter_verdict"]["errors"])
asyncio.run(main())
`,
      env,
    );
    expect(JSON.parse(lines[0] ?? "")).toEqual([6, 0, "none"]);
    expect(lines[1]).toContain("reward_missing");
  });

  it("that are missing drop no group that differs, and move no evaluation", async () => {
    const { env } = await host();
    const lines = await runPython(
      `${HEAD}
none = float("nan")
def keeps(*rewards):
    told = spotter_slime.check_reward_nonzero_std(args, [Sample(reward=each) for each in rewards])
    return [told.keep, told.reason]
show([keeps(1, 3, none), keeps(2, 2, none), keeps(2, none, none), keeps(none, None, none)])
extra, data = {}, {"math": {"rewards": [1, none, 0]}, "all": {"rewards": [1, 0]}, "gone": {"rewards": [none]}}
show([spotter_slime.log_eval(3, args, data, extra), [each["rewards"] for each in data.values()]])
show(list(extra.items()))
# slime gives none where the rollout had no metrics of its own.
show(spotter_slime.log_eval(3, args, {"math": {"rewards": [none, 1]}}, None))
`,
      env,
    );
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      [
        [true, null],
        [false, "zero_std_2"],
        [false, "zero_std_2"],
        [false, "no_verdict"],
      ],
      [false, [[1, 0.5, 0], [1, 0], ["none"]]],
      [
        ["eval/math-no_verdict", 1],
        ["eval/gone-no_verdict", 1],
      ],
      false,
    ]);
  });
});

describe.runIf(hasPython)("a teacher inside slime", () => {
  const ask = `
one = sample(); one.tokens = [1, 2, 3, 4]; one.response = "ab"; one.response_length = 2; one.status = Sample.Status.COMPLETED
async def main():
    show(await spotter_slime.reward(args, one))
    show(one.teacher_log_probs)
    one.reward = float("nan")
    show(spotter_slime.post_process(args, [one, one]))
    show(one.remove_sample)
asyncio.run(main())
`;

  it("grades each token of the answer, when it is up, and rewards are measured alone", async () => {
    const { plane, env } = await host({ kind: "distill", hasRewards: true });
    const asked: unknown[] = [];
    plane.teach = (question) => {
      asked.push(question);
      if (asked.length === 1) return { waiting: "loading" };
      return { sequences: [{ ids: [1, 2, 3, 4], logprobs: [0, -1, -2, -3] }] };
    };
    plane.judge = (rows) => rows.map(() => noVerdict());
    const fast = `import spotter_slime.client; spotter_slime.client.TEACHER_AGAIN_S = 0.01`;
    const lines = await runPython(`${HEAD}\n${fast}\n${ask}`, env);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      "none",
      [-2, -3],
      [
        [0, 0],
        [0, 0],
      ],
      false,
    ]);
    expect(asked).toEqual(Array(2).fill({ kind: "score", sequences: [[1, 2, 3, 4]] }));
  });

  it("is enough without rewards, and ends the training where it does not come", async () => {
    const { plane, env } = await host({ kind: "distill", hasRewards: false });
    plane.teach = () => ({ sequences: [{ ids: [1, 2, 3, 4], logprobs: [0, -1, -2, -3] }] });
    const lines = await runPython(`${HEAD}${ask}`, env);
    expect(JSON.parse(lines[0] ?? "")).toBe(0);
    plane.teach = () => ({ waiting: "busy" });
    const never = `import spotter_slime.client; spotter_slime.client.TEACHER_WITHIN_S = 0`;
    await expect(runPython(`${HEAD}\n${never}\n${ask}`, env)).rejects.toThrow(
      "The teacher was not there in time: busy",
    );
  });
});
