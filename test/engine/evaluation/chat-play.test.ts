import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import { createChatPlay } from "../../../engine/evaluation/chat-play.ts";
import { judgedRow } from "../../../engine/evaluation/played.ts";
import { questionsOf } from "../../../engine/evaluation/questions.ts";
import type { LaunchEvalInput } from "../../../sdk/schema/launch-eval.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { jobSpec, type EvalJob, type JobEnvironmentCall, type JobToolCall } from "../../../sdk/schema/job.ts";
import type { DatasetRow } from "../../../sdk/schema/dataset.ts";

const sha256 = "0".repeat(64);
const add = { type: "function", function: { name: "add", description: "", parameters: {} } } as const;
const file = { path: "d", url: "http://x/d", size: 1, sha256 };

interface Talk {
  spec?: Partial<LaunchEvalInput>;
  row?: Partial<DatasetRow>;
  /** What the endpoint answers, turn by turn; an error is thrown. */
  answers: (object | Error)[];
  environments?: EvalJob["environments"];
  calls?: (call: JobEnvironmentCall) => unknown;
  /** The endpoint never answers. */
  isSilent?: boolean;
}

/** Plays one row with an endpoint that answers as told, and tells what was asked. */
async function play({ spec = {}, row, answers, environments, calls, isSilent = false }: Talk) {
  const job = z.parse(jobSpec, {
    ...{ protocol: 1, id: "j", attempt: 1, heartbeatEveryMs: 1, threads: 1, kind: "eval", evalId: "e" },
    ...{ dataset: file, chatUrl: "http://x/v1", model: "base", tools: [add], environments },
    spec: { endpoint: "base", dataset: { sha256, rows: 1 }, rewards: { code: { sha256 } }, ...spec },
  }) as EvalJob;
  const asked: Record<string, unknown>[] = [];
  const called: JobToolCall[] = [];
  const playOne = createChatPlay({
    job,
    chat: { url: "http://x/v1", model: "base" },
    signal: new AbortController().signal,
    client: {
      chat: async (_url, body) => {
        asked.push(structuredClone(body) as Record<string, unknown>);
        if (isSilent) await new Promise(() => undefined);
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return answer;
      },
      callTools: async (given) => {
        called.push(...given);
        return given.map(({ input }) => ({ value: sumOf(input) }));
      },
      callEnvironments: async (given) => given.map((call) => ({ value: calls?.(call) })),
    },
  });
  const [question] = questionsOf(
    [{ prompt: [{ role: "user", content: "2 + 3?" }], row: {}, ...row }],
    job.spec,
  );
  if (question === undefined) throw new Error("no question");
  const played = await playOne(question);
  return { asked, called, played, judged: judgedRow(question, played) };
}

function sumOf(input: unknown): number {
  const { a, b } = input as { a: number; b: number };
  return a + b;
}

function said(content: string, calls: object[] = [], tokens = 5) {
  const tool_calls = calls.map((input, index) => ({
    id: `c${index}`,
    function: { name: "add", arguments: JSON.stringify(input) },
  }));
  return {
    choices: [{ message: { content, ...(calls.length > 0 && { tool_calls }) }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: tokens },
  };
}

describe("a conversation with an endpoint", () => {
  it("calls tools and goes on, as in a training, and is judged as a whole", async () => {
    const { asked, called, played, judged } = await play({
      spec: { rollout: { maxTurns: 3 } },
      answers: [said("", [{ a: 2, b: 3 }]), said("It is 5.")],
    });
    expect(called).toEqual([{ tool: "add", input: { a: 2, b: 3 } }]);
    expect(asked).toMatchObject([
      { tools: [add], messages: { length: 1 } },
      {
        messages: [
          { role: "user" },
          { role: "assistant" },
          { role: "tool", tool_call_id: "c0", content: "5" },
        ],
      },
    ]);
    expect(asked[0]?.seed).not.toBe(asked[1]?.seed);
    expect(played).toMatchObject({ turns: 2, tokens: 10, truncated: false, finishReason: "stop" });
    expect(judged.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(judged.response.content).toBe("It is 5.");
  });

  it("ends with an answer that calls nothing, unless all turns are to be played", async () => {
    const one = await play({ spec: { rollout: { maxTurns: 3 } }, answers: [said("five"), said("again")] });
    expect(one.played.turns).toBe(1);
    const rollout = { maxTurns: 2, terminationPolicy: "max_turns" } as const;
    const all = await play({ spec: { rollout }, answers: [said("five"), said("again")] });
    expect(all.played.turns).toBe(2);
  });

  it("tells the model only of the tools that its row allows", async () => {
    const { asked } = await play({ row: { tools: [] }, answers: [said("five")] });
    expect(asked[0]).not.toHaveProperty("tools");
  });

  it("cuts an answer of a tool to the room that is left, and the model's next one to the rest (A17, A20)", async () => {
    const { asked, played } = await play({
      spec: { rollout: { maxTurns: 4, contextTokens: 60 }, chatOptions: { max_tokens: 40 } },
      answers: [said("", [{ a: "x".repeat(400), b: "" }]), said("done", [], 20)],
    });
    const [, second] = asked as { max_tokens: number; messages: { content: string }[] }[];
    expect(second?.messages.at(-1)?.content).toMatch(/^x+ …\[cut\]$/);
    expect(second?.max_tokens).toBeLessThan(40);
    expect(played).toMatchObject({ cutAnswers: 1, truncated: false });
  });

  it("says what the model thought before only where it may see it (A21)", async () => {
    const thinks = { ...said("", [{ a: 1, b: 1 }]) };
    Object.assign(thinks.choices[0]?.message ?? {}, { reasoning_content: "hm" });
    const talk = (includeThinking: boolean) =>
      play({
        spec: { rollout: { maxTurns: 2, includeThinking } },
        answers: [structuredClone(thinks), said("2")],
      });
    for (const includes of [true, false]) {
      const { asked, judged } = await talk(includes);
      expect(JSON.stringify(asked[1]).includes("hm")).toBe(includes);
      expect(JSON.stringify(judged.messages).includes("hm")).toBe(includes);
    }
  });

  it("has an error of its own when its time is over", async () => {
    const { played } = await play({
      spec: { rollout: { rolloutTimeoutMs: 5 } },
      answers: [],
      isSilent: true,
    });
    expect(played.failure).toEqual({ code: "rollout_timeout", message: "it was not over within 0.005 s" });
  });

  it("begins and goes on as an environment says", async () => {
    const { asked, played, judged } = await play({
      spec: { rollout: { maxTurns: 3 } },
      row: { environment: "game", row: { goal: 7 } },
      environments: { game: { tools: [], steps: true } },
      answers: [said("6"), said("7")],
      calls: ({ call, input }) =>
        call === "setup"
          ? { messages: [{ role: "user", content: "guess" }], state: 0 }
          : { done: answered(input) === "7", messages: [{ role: "user", content: "no" }] },
    });
    expect(asked[1]?.messages).toMatchObject([{ content: "guess" }, { content: "6" }, { content: "no" }]);
    expect(played.turns).toBe(2);
    expect(judged.environment).toBe("game");
  });

  it("has an error of its own where the endpoint refuses it, and throws what concerns all", async () => {
    const full = new SpotterError("context_length_exceeded", "too long", { status: 400 });
    const { played } = await play({ answers: [full] });
    expect(played.failure).toEqual({ code: "context_length_exceeded", message: "too long" });
    const gone = new SpotterError("model_not_found", "no such endpoint");
    await expect(play({ answers: [gone] })).rejects.toThrow("no such endpoint");
  });
});

function answered(input: unknown): string {
  return (input as { response: { content: string } }).response.content;
}
