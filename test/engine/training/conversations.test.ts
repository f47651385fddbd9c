import { describe, expect, it } from "vitest";
import type { DatasetRow } from "../../../sdk/schema/dataset.ts";
import type { JobCallResult, JobEnvironmentCall, JobToolCall } from "../../../sdk/schema/job.ts";
import { judgedRowOf, judgeAll, rolloutOf, sequencesOf } from "../../../engine/training/samples.ts";
import { CUT_MARK } from "../../../engine/training/tool-messages.ts";
import { call, play, row, textOf } from "./scene.ts";

describe("conversations with tools", () => {
  const write = (text: string) =>
    text.endsWith("tool:5$assistant:") ? "it is 5$" : `${call("add", { a: 2, b: 3 })}$`;
  const tools = (calls: JobToolCall[]) => calls.map(() => ({ value: 5 }));

  it("calls what the model asks for, says the answer, and lets it go on", async () => {
    const { samples, asked } = await play({ write, tools }, [row("2 + 3?")]);
    const [sample] = samples;
    expect(asked.tools).toEqual([[{ tool: "add", input: { a: 2, b: 3 } }]]);
    expect(sample).toMatchObject({
      turns: 2,
      truncated: false,
      response: { content: "it is 5", toolCalls: [] },
    });
    expect(sample && judgedRowOf(sample).messages).toEqual([
      { role: "user", content: "2 + 3?" },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "call_1_1", type: "function", function: { name: "add", arguments: '{"a":2,"b":3}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1_1", name: "add", content: "5" },
      { role: "assistant", content: "it is 5" },
    ]);
  });

  it("keeps the model's tokens as written and learns nothing else", async () => {
    const { samples } = await play({ write, tools }, [row("2 + 3?")]);
    const [sample] = samples;
    if (!sample) throw new Error("no sample");
    const rollout = rolloutOf(1, sample, { scores: {}, errors: {} });
    const first = `${call("add", { a: 2, b: 3 })}$`;
    expect(textOf(rollout.tokenIds)).toBe(`[add]user:2 + 3?$assistant:${first}tool:5$assistant:it is 5$`);
    const written = rollout.tokenIds.filter((_, at) => rollout.mask[at] === 1);
    expect(textOf(written)).toBe(`${first}it is 5$`);
    expect(rollout.logprobs).toEqual(
      rollout.tokenIds.map((id, at) => (rollout.mask[at] === 1 ? -id / 100 : 0)),
    );
    const [sequence, ...others] = sequencesOf(sample, 0.5);
    expect(others).toEqual([]);
    expect(sequence?.mask).toEqual(rollout.mask);
    expect(sequence?.advantages).toEqual(rollout.mask.map((each) => each * 0.5));
    expect(judgedRowOf(sample).completion.tokens).toBe(written.length);
  });

  it("samples each turn with a seed of its own, and everybody's calls are one request", async () => {
    const { asked } = await play({ write, tools }, [row("one"), row("two"), row("three")]);
    expect(asked.seeds.slice(0, 3)).toEqual([7, 8, 9]);
    expect(new Set(asked.seeds).size).toBe(6);
    expect(asked.tools.map((calls) => calls.length)).toEqual([3]);
  });

  it("tells the model what went wrong instead of ending", async () => {
    const scripted = (text: string) =>
      text.includes("tool:") ? "sorry$" : `${call("sub", {})}${call("add", {})}$`;
    const { samples, asked } = await play(
      {
        write: scripted,
        tools: (calls) => calls.map(() => ({ error: { code: "tool_failed", message: "it threw" } })),
      },
      [row("hm")],
    );
    expect(asked.tools).toEqual([[{ tool: "add", input: {} }]]);
    expect(samples[0]?.messages.slice(2, 4)).toMatchObject([
      { name: "sub", content: '{"error":"there is no tool \\"sub\\""}' },
      { name: "add", content: '{"error":"it threw"}' },
    ]);
  });

  it("offers a row the tools it allows", async () => {
    const { samples, asked } = await play({ write, tools }, [row("2 + 3?", { tools: [] })]);
    expect(asked.tools).toEqual([]);
    expect(samples[0]).toMatchObject({ turns: 1, text: expect.stringContaining("<tool_call>") as string });
  });

  it("cuts an answer to maxToolTokens and to the room that is left, and says so (A17, A20)", async () => {
    const long = "x".repeat(3_000);
    const answers = (calls: JobToolCall[]) => calls.map(() => ({ value: long }));
    const scripted = (text: string) => (text.includes("tool:") ? "ok$" : `${call("add", {})}$`);
    const asked = await play({ write: scripted, tools: answers, rollout: { maxToolTokens: 40 } }, [
      row("hm"),
    ]);
    const content = String(asked.samples[0]?.messages[2]?.content);
    expect(content.length).toBe(40);
    expect(content.endsWith(CUT_MARK)).toBe(true);
    expect(asked.samples[0]).toMatchObject({ truncated: false, cutAnswers: 1, turns: 2 });
    const room = await play({ write: scripted, tools: answers, rollout: { contextTokens: 300 } }, [
      row("hm"),
    ]);
    const [sample] = room.samples;
    expect(sample).toMatchObject({ truncated: false, cutAnswers: 1, turns: 2, response: { content: "ok" } });
    expect((sample?.prompt.ids.length ?? 0) + (sample?.ids.length ?? 0)).toBeLessThanOrEqual(300);
  });

  it("goes on for maxTurns answers under max_turns, and no further under last_tool (A16)", async () => {
    const talk = () => "so$";
    const on = await play({ write: talk, rollout: { terminationPolicy: "max_turns", maxTurns: 3 } }, [
      row("hm"),
    ]);
    expect(on.samples[0]?.turns).toBe(3);
    expect(on.samples[0]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "assistant",
      "assistant",
    ]);
    expect((await play({ write: talk }, [row("hm")])).samples[0]?.turns).toBe(1);
    const calls = await play({ write: () => `${call("add", {})}$`, tools, rollout: { maxTurns: 2 } }, [
      row("hm"),
    ]);
    expect(calls.samples[0]?.turns).toBe(2);
  });

  it("ends where the model ran into its length", async () => {
    const { samples } = await play({ write: () => call("add", {}), tools }, [row("hm")]);
    expect(samples[0]).toMatchObject({ turns: 1, finishReason: "length" });
  });
});

describe("conversations in an environment", () => {
  const job = { environments: { guess: { tools: [], steps: true } } };
  const task = (secret: number): DatasetRow => ({ prompt: [], row: { secret }, environment: "guess" });
  const environments = (calls: JobEnvironmentCall[]): JobCallResult[] =>
    calls.map(({ call: part, input }) => {
      const { secret } = input as { secret?: number };
      if (part === "setup")
        return secret === 0
          ? { error: { code: "environment_failed", message: "no secret" } }
          : { value: { messages: [{ role: "user", content: "guess" }], state: 0 } };
      const turn = input as { row: { secret: number }; state: number; response: { content: string } };
      if (Number(turn.response.content) === turn.row.secret) return { value: { done: true } };
      return {
        value: {
          done: false,
          state: turn.state + 1,
          messages: [{ role: "user", content: `no, ${turn.state + 1}` }],
        },
      };
    });
  /** Says 1, then 2, then 3. */
  const write = (text: string) => `${(text.match(/assistant:/g) ?? []).length}$`;

  it("begins as it says, hands its state from turn to turn, and ends when it is done", async () => {
    const { samples, asked } = await play({ write, environments, job }, [task(3), task(1)]);
    expect(samples.map(({ turns }) => turns)).toEqual([3, 1]);
    expect(textOf([...(samples[0]?.prompt.ids ?? []), ...(samples[0]?.ids ?? [])])).toBe(
      "user:guess$assistant:1$user:no, 1$assistant:2$user:no, 2$assistant:3$",
    );
    expect(asked.environments.map((calls) => calls.length)).toEqual([2, 2, 1, 1]);
    expect(samples[0] && judgedRowOf(samples[0])).toMatchObject({ environment: "guess", row: { secret: 3 } });
  });

  it("gives no verdict where it failed, and asks no reward (known fault of frameworks: a 0 there)", async () => {
    const { samples } = await play({ write, environments, job }, [task(0), task(1)]);
    const judged: number[] = [];
    const verdicts = await judgeAll(
      {
        judge: async (rows) => {
          judged.push(rows.length);
          return rows.map(() => ({ total: 1, scores: {}, errors: {} }));
        },
      },
      samples,
    );
    expect(judged).toEqual([1]);
    expect(verdicts).toEqual([
      { scores: {}, errors: { guess: { code: "environment_failed", message: "no secret" } } },
      { total: 1, scores: {}, errors: {} },
    ]);
  });
});
