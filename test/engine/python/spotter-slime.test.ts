import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  answer,
  noVerdict,
  score,
  startFakeControlPlane,
  type FakeControlPlane,
} from "../fake-control-plane.ts";
import { hasPython } from "./spotter_agent/has-python.ts";
import { runPython } from "./spotter_agent/run-python.ts";

const HEAD = `
import asyncio, json, types
from slime.utils import http_utils
from slime.utils.types import Sample
import spotter_slime
args = types.SimpleNamespace(sglang_router_ip="r", sglang_router_port=1, rollout_max_context_len=None,
  advantage_estimator="grpo", n_samples_per_prompt=3, rollout_batch_size=2, rewards_normalization=True,
  grpo_std_normalization=True, reward_key=None)
def sample(prompt="Hi", **own):
    return Sample(prompt=f"[user]{prompt}\\x03\\n[assistant]", metadata={"spotter": {
      "row": {"metadata": {"n": 1}, "x": 2}, "prompt": [{"role": "user", "content": prompt}], "rewards": None, "tools": None, **own}})
def show(value): print(json.dumps(value), flush=True)
`;

interface Host {
  plane: FakeControlPlane;
  env: Record<string, string>;
  dir: string;
}

/** A control plane, and the setup that the agent leaves for the plug-in. */
async function host(setup: object = {}): Promise<Host> {
  const dir = await mkdtemp(join(tmpdir(), "spotter-slime-"));
  const plane = await startFakeControlPlane(dir);
  const file = join(dir, "setup.json");
  const rollout = { maxTurns: 3, terminationPolicy: "last_tool", chatTemplateKwargs: {} };
  await writeFile(file, JSON.stringify({ rollout, ...setup }));
  onTestFinished(async () => {
    await plane[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
  });
  return { plane, dir, env: { ...plane.env, SPOTTER_ATTEMPT: "2", SPOTTER_SLIME_SETUP: file } };
}

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
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([4, [4, null], true]);
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

  it("are compared within the group among those with a verdict, as slime normalises", async () => {
    const lines = await runPython(`${HEAD}
import math
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
`);
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
    expect(JSON.parse(lines[0] ?? "")).toEqual([6, 0, null]);
    expect(lines[1]).toContain("reward_missing");
  });
});

describe.runIf(hasPython)("conversations inside slime", () => {
  it("keep the tokens as they were sampled, and learn none of the tools' words", async () => {
    const { plane, env } = await host();
    plane.intercept = (request, response) => {
      if (request.url !== "/jobs/job-1/tools") return false;
      answer(response, 200, { results: [{ value: { sum: 4 } }] });
      return true;
    };
    const lines = await runPython(
      `${HEAD}
CALL = 'Let me.<tool_call>{"name": "add", "arguments": {"a": 2}}</tool_call>\\x03'
http_utils.answers = [(CALL, "stop"), ("Four\\x03", "stop")]
async def main():
    played = await spotter_slime.generate(args, sample(), {"max_new_tokens": 200})
    text = "".join(chr(each) for each in played.tokens)
    start = len(played.tokens) - played.response_length
    learnt = "".join(chr(each) for each, mask in zip(played.tokens[start:], played.loss_mask) if mask)
    show(text)
    show([learnt, played.status.value, len(played.rollout_log_probs) == played.response_length])
    show([each["payload"]["input_ids"] == played.tokens[:len(each["payload"]["input_ids"])] for each in http_utils.asked])
    show(spotter_slime.rewards.reward_row(played)["messages"])
asyncio.run(main())
`,
      env,
    );
    const [text, learnt, asked, messages] = lines.map((line) => JSON.parse(line) as unknown);
    const call = 'Let me.<tool_call>{"name": "add", "arguments": {"a": 2}}</tool_call>\x03';
    expect(text).toBe(`[user]Hi\x03\n[assistant]${call}\n[tool]{"sum": 4}\x03\n[assistant]Four\x03`);
    expect(learnt).toEqual([`${call}Four\x03`, "completed", true]);
    // Each request goes on from the very tokens that were sampled before it.
    expect(asked).toEqual([true, true]);
    expect(messages).toEqual([
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "Let me.",
        tool_calls: [{ type: "function", function: { name: "add", arguments: { a: 2 } } }],
      },
      { role: "tool", name: "add", content: '{"sum": 4}' },
      { role: "assistant", content: "Four" },
    ]);
  });

  it("cut what a tool says to the room there is, refuse tools that a row has not, and end in time", async () => {
    const { plane, env } = await host({
      rollout: {
        maxTurns: 2,
        terminationPolicy: "last_tool",
        chatTemplateKwargs: {},
        contextTokens: 160,
        maxToolTokens: 50,
      },
    });
    const calls: string[] = [];
    plane.intercept = (request, response) => {
      if (request.url !== "/jobs/job-1/tools") return false;
      calls.push(request.url);
      answer(response, 200, { results: [{ value: "y".repeat(500) }] });
      return true;
    };
    const lines = await runPython(
      `${HEAD}
CALL = '<tool_call>{"name": "add", "arguments": {}}</tool_call>\\x03'
async def play(answers, **own):
    http_utils.answers = answers
    played = await spotter_slime.generate(args, sample(**own), {"max_new_tokens": 60})
    show([len(played.tokens), played.status.value, [m["content"] for m in played.metadata["spotter"].get("messages", [])]])
async def main():
    await play([(CALL, "stop"), ("z\\x03", "stop")])
    await play([(CALL, "stop"), ("z\\x03", "stop")], tools=["other"])
    await play([("never ends", "length")])
    await play([("", "abort")])
asyncio.run(main())
`,
      env,
    );
    const played = lines.map((line) => JSON.parse(line) as [number, string, string[]]);
    expect(played[0]?.[0]).toBeLessThanOrEqual(160);
    expect(played[0]?.[2][2]).toMatch(/^y+\n\[cut\]$/);
    expect(played[1]?.[2][2]).toBe('{"error": "There is no tool add."}');
    expect(calls).toHaveLength(1);
    expect(played[2]?.[1]).toBe("truncated");
    expect(played[3]?.[1]).toBe("aborted");
  });

  it("read both ways of writing calls, and leave what is none", async () => {
    const lines = await runPython(`${HEAD}
from spotter_slime.parse import parse_answer
for text in (
  "hm</think>x<tool_call>\\n<function=add>\\n<parameter=a>\\n2\\n</parameter>\\n<parameter=b>\\ntwo\\n</parameter>\\n</function>\\n</tool_call>",
  "<tool_call>{broken</tool_call>",
  "<think>never done",
  "plain",
): show(parse_answer(text))
`);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { content: "x", reasoning: "hm", toolCalls: [{ name: "add", arguments: { a: 2, b: "two" } }] },
      { content: "<tool_call>{broken</tool_call>", reasoning: "", toolCalls: [] },
      { content: "", reasoning: "never done", toolCalls: [] },
      { content: "plain", reasoning: "", toolCalls: [] },
    ]);
  });
});

describe.runIf(hasPython)("adapters inside vLLM", () => {
  it("are found as a plug-in, fetched once, and unknown where they are none", async () => {
    const { plane, env } = await host();
    const file = plane.addFile("model/adapter_config.json", "{}");
    const state = plane.addFile("trainer/state.json", "{}");
    let fetched = 0;
    plane.intercept = (request, response) => {
      const match = /^\/jobs\/job-1\/adapters\/(.+)$/.exec(request.url ?? "");
      if (!match) return false;
      const found = decodeURIComponent(match[1] ?? "") === "run-1@4";
      if (found) fetched++;
      const error = { error: { code: "checkpoint_not_found", kind: "user", message: "none" } };
      answer(response, found ? 200 : 404, found ? { kind: "lora", files: [file, state] } : error);
      return true;
    };
    const lines = await runPython(
      `
import asyncio, json, os
from importlib.metadata import entry_points
found = [each for each in entry_points(group="vllm.general_plugins") if each.name == "spotter_adapters"]
found[0].load()()
from vllm.lora.resolver import LoRAResolverRegistry
resolver = LoRAResolverRegistry.resolvers["Spotter"]
async def main():
    one, two = await asyncio.gather(*(resolver.resolve_lora("base", "run-1@4") for _ in range(2)))
    print(one.lora_int_id == two.lora_int_id > 0, os.listdir(one.lora_path))
    print([await resolver.resolve_lora("base", name) for name in ("run-1@5", "base", "../../etc@1")])
asyncio.run(main())
`,
      env,
    );
    expect(lines).toEqual(["True ['adapter_config.json', '.complete']", "[None, None, None]"]);
    expect(fetched).toBe(1);
  });
});
