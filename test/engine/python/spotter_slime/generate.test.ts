import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer } from "../../fake-control-plane.ts";
import { HEAD, host } from "../slime-host.ts";
import { hasPython } from "../spotter_agent/has-python.ts";
import { runPython } from "../spotter_agent/run-python.ts";

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

  it("call tools written in Python, and are judged by rewards written in Python", async () => {
    const { plane, env, dir } = await host();
    await writeFile(
      join(dir, "tools.py"),
      `from rnow.core import tool

@tool
def add(a: int, b: int = 2) -> int:
    """Adds."""
    return a + b

@tool
async def fail() -> str:
    """Fails."""
    raise ValueError("not today")
`,
    );
    await writeFile(
      join(dir, "rewards.py"),
      `from rnow.core import RewardArgs, get_response, reward

@reward
def calls(args: RewardArgs, messages: list) -> float:
    return sum(1 for each in messages if each["role"] == "tool") + len(get_response(messages)) / 10
`,
    );
    const python = {
      folder: dir,
      files: ["rewards.py", "tools.py"],
      rewards: { file: "rewards.py", timeoutMs: 5_000 },
      tools: { file: "tools.py", timeoutMs: 5_000 },
    };
    const rollout = { maxTurns: 4, terminationPolicy: "last_tool", chatTemplateKwargs: {} };
    await writeFile(env["SPOTTER_SLIME_SETUP"] ?? "", JSON.stringify({ rollout, python }));
    const lines = await runPython(
      `${HEAD}
def call(name, **arguments): return "<tool_call>" + json.dumps({"name": name, "arguments": arguments}) + "</tool_call>\\x03"
http_utils.answers = [(call("add", a=3) , "stop"), (call("fail") + "", "stop"), (call("add", a="x"), "stop"), ("Five\\x03", "stop")]
async def main():
    played = await spotter_slime.generate(args, sample(), {"max_new_tokens": 200})
    show([each["content"] for each in played.metadata["spotter"]["messages"] if each["role"] == "tool"])
    show([each["payload"]["input_ids"] == played.tokens[:len(each["payload"]["input_ids"])] for each in http_utils.asked])
    start = len(played.tokens) - played.response_length
    show("".join(chr(each) for each, mask in zip(played.tokens[start:], played.loss_mask) if mask).count("tool_call"))
    show(await spotter_slime.reward(args, played))
asyncio.run(main())
`,
      env,
    );
    const [said, asked, calls, reward] = lines.map((line) => JSON.parse(line) as unknown);
    expect(said).toEqual([
      "5",
      expect.stringContaining("not today") as string,
      expect.stringContaining("integer") as string,
    ]);
    expect(asked).toEqual([true, true, true, true]);
    expect(calls).toBe(6);
    expect(reward).toBe(3.4);
    // None of it went through the control plane.
    expect(plane.requests).toEqual([]);
  });

  it("begin anew when they were cut off, with nothing left of what they had", async () => {
    const { env } = await host();
    const lines = await runPython(
      `${HEAD}
half = sample()
half.append_response_tokens(args, tokens=[1, 2], log_probs=[-1.0, -1.0], text="ha")
half.status = Sample.Status.ABORTED
http_utils.answers = [("whole\\x03", "stop")]
async def main():
    played = await spotter_slime.generate(args, half, {"max_new_tokens": 50})
    show([played.response, played.response_length, len(played.loss_mask), len(played.rollout_log_probs), played.status.value])
asyncio.run(main())
`,
      env,
    );
    expect(JSON.parse(lines[0] ?? "")).toEqual(["whole\x03", 6, 6, 6, "completed"]);
  });

  it("are rendered as slime rendered the prompt, and say what slime has to know", async () => {
    const { plane, env } = await host();
    plane.intercept = (request, response) => {
      if (request.url !== "/jobs/job-1/tools") return false;
      answer(response, 200, { results: [{ value: 4 }] });
      return true;
    };
    const lines = await runPython(
      `${HEAD}
from slime.rollout.sglang_rollout import Tokenizer
asked, render = [], Tokenizer.apply_chat_template
def told(self, messages, **kwargs):
    asked.append({name: value for name, value in kwargs.items() if name not in ("tokenize", "add_generation_prompt")})
    return render(self, messages, **kwargs)
Tokenizer.apply_chat_template = told
args.apply_chat_template_kwargs = {"enable_thinking": False}
args.use_rollout_routing_replay = True
one = sample(); one.metadata["tools"] = [{"name": "add"}]
http_utils.answers = [('<tool_call>{"name": "add", "arguments": {}}</tool_call>\\x03', "stop"), ("Four\\x03", "stop")]
async def main():
    await spotter_slime.generate(args, one, {"max_new_tokens": 200})
    show([each == {"enable_thinking": False, "tools": [{"name": "add"}]} for each in asked])
    show([each["payload"]["return_routed_experts"] for each in http_utils.asked])
asyncio.run(main())
`,
      env,
    );
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      [true, true],
      [true, true],
    ]);
  });
});
