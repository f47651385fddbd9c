import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import type { DatasetRow } from "../../../sdk/schema/dataset.ts";
import type { JobEnvironmentCall } from "../../../sdk/schema/job.ts";
import { branchesOf, rollout as rolloutSchema } from "../../../sdk/schema/rollout.ts";
import { writtenTokens } from "../../../engine/training/episode.ts";
import { judgedRowOf, rolloutOf, sequencesOf, writtenLogprobs } from "../../../engine/training/samples.ts";
import { call, play, row, textOf } from "./scene.ts";

const drop = { includeThinking: false };
const adding = call("add", { a: 2, b: 3 });
/** Thinks before it calls, and before it answers. */
const write = (text: string) =>
  text.includes("tool:5") ? "<think>five</think>it is 5$" : `<think>hmm</think>${adding}$`;
const tools = (calls: unknown[]) => calls.map(() => ({ value: 5 }));
const noVerdict = { scores: {}, errors: {} };

const job = { environments: { talk: { tools: [], steps: true } } };
const task: DatasetRow = { prompt: [], row: {}, environment: "talk" };
const talking = (content: string) => (calls: JobEnvironmentCall[]) =>
  calls.map(({ call: part }) => {
    const messages = [{ role: "user", content: part === "setup" ? "hi" : content }];
    return { value: { messages, ...(part === "setup" ? { state: 0 } : { done: false }) } };
  });

async function one(rollout: object, more: Partial<Parameters<typeof play>[0]> = {}) {
  const { samples, asked } = await play({ write, tools, rollout, ...more }, [row("2 + 3?")]);
  const [sample] = samples;
  if (sample === undefined) throw new Error("no sample");
  return { sample, asked };
}

describe("includeThinking: false", () => {
  it("takes earlier thinking out of what the model sees next, and begins a branch (A21)", async () => {
    const { sample } = await one(drop);
    const rollout = rolloutOf(1, sample, noVerdict, 0.5);
    const branches = branchesOf(rollout);
    expect(branches.map(({ tokenIds }) => textOf(tokenIds))).toEqual([
      `[add]user:2 + 3?$assistant:<think>hmm</think>${adding}$`,
      "[add]user:2 + 3?$assistant:(add)$tool:5$assistant:<think>five</think>it is 5$",
    ]);
    expect(rollout.branches).toHaveLength(1);
    // What is stored comes back as it was.
    expect(z.parse(rolloutSchema, JSON.parse(JSON.stringify(rollout)))).toEqual(rollout);
    expect(rollout.turns).toBe(2);
  });

  it("masks in each branch what the model wrote there, with its log-probabilities, token for token", async () => {
    const { sample } = await one(drop);
    const rollout = rolloutOf(1, sample, noVerdict, 0.5);
    const branches = branchesOf(rollout);
    const written = branches.map(({ tokenIds, mask }) => textOf(tokenIds.filter((_, at) => mask[at] === 1)));
    expect(written).toEqual([`<think>hmm</think>${adding}$`, "<think>five</think>it is 5$"]);
    for (const { tokenIds, mask, logprobs } of branches) {
      expect(mask).toHaveLength(tokenIds.length);
      expect(logprobs).toEqual(tokenIds.map((id, at) => (mask[at] === 1 ? -id / 100 : 0)));
    }
    expect(writtenTokens(sample)).toBe(written.join("").length);
    expect(judgedRowOf(sample).completion.tokens).toBe(written.join("").length);
  });

  it("learns all branches with one advantage", async () => {
    const { sample } = await one(drop);
    const rollout = rolloutOf(1, sample, noVerdict, 0.5);
    const sequences = sequencesOf(sample, 0.5);
    expect(
      sequences.map(({ ids, mask, oldLogprobs }) => ({ tokenIds: ids, mask, logprobs: oldLogprobs })),
    ).toEqual(branchesOf(rollout));
    for (const { mask, advantages } of sequences) expect(advantages).toEqual(mask.map((each) => each * 0.5));
    expect(writtenLogprobs(sample).map(({ length }) => length)).toEqual(
      sequences.map(({ mask }) => mask.filter((each) => each === 1).length),
    );
  });

  it("shows rewards the thinking of the last answer alone", async () => {
    const { sample } = await one(drop);
    const { messages, response } = judgedRowOf(sample);
    expect(response).toMatchObject({ content: "it is 5", reasoning: "five" });
    expect(messages.map(({ reasoning_content: thought }) => thought)).toEqual([
      undefined,
      undefined,
      undefined,
      "five",
    ]);
    expect(messages[1]).toHaveProperty("tool_calls");
  });

  it("goes on in the same branch after an answer without thinking", async () => {
    const plain = (text: string) => {
      if (text.endsWith("tool:5$tool:5$assistant:")) return "done$";
      return text.includes("tool:5") ? `${adding}$` : `<think>hmm</think>${adding}$`;
    };
    const calls = (text: string) => plain(text.replaceAll(/assistant:[^$]*\$/g, ""));
    const { sample } = await one(drop, { write: calls });
    const rollout = rolloutOf(1, sample, noVerdict);
    expect(rollout.turns).toBe(3);
    expect(branchesOf(rollout).map(({ tokenIds }) => textOf(tokenIds))).toEqual([
      `[add]user:2 + 3?$assistant:<think>hmm</think>${adding}$`,
      `[add]user:2 + 3?$assistant:(add)$tool:5$assistant:${adding}$tool:5$assistant:done$`,
    ]);
  });

  it("gives a tool's answer the room that thinking leaves", async () => {
    const long = (text: string) =>
      text.includes("tool:") ? "ok$" : `<think>${"t".repeat(150)}</think>${call("add", {})}$`;
    const answers = (calls: unknown[]) => calls.map(() => ({ value: "x".repeat(100) }));
    const scene = { write: long, tools: answers };
    const kept = await one({ contextTokens: 260 }, scene);
    expect(kept.sample.cutAnswers).toBe(1);
    const dropped = await one({ contextTokens: 260, ...drop }, scene);
    expect(dropped.sample).toMatchObject({ cutAnswers: 0, truncated: false, response: { content: "ok" } });
  });

  it("is truncated where even without thinking there is no room, and keeps what is judged", async () => {
    const environments = talking("go on ".repeat(20));
    const { samples } = await play(
      { write: () => "<think>a</think>b$", environments, job, rollout: { ...drop, contextTokens: 100 } },
      [task],
    );
    const [sample] = samples;
    expect(sample).toMatchObject({ truncated: true, turns: 1, earlier: [], response: { reasoning: "a" } });
  });

  it("hides earlier thinking from the steps of an environment", async () => {
    const environments = talking("go on");
    const { samples, asked } = await play(
      { write: () => "<think>a</think>b$", environments, job, rollout: { ...drop, maxTurns: 3 } },
      [task],
    );
    const seen = asked.environments.at(-1)?.[0]?.input as { messages: Record<string, unknown>[] };
    expect(seen.messages.map(({ reasoning_content: thought }) => thought)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      "a",
    ]);
    expect(samples[0]?.earlier).toHaveLength(2);
  });
});

describe("includeThinking: true, the default", () => {
  it("keeps all in one sequence, and shows it to rewards (A21)", async () => {
    const { sample } = await one({});
    const rollout = rolloutOf(1, sample, noVerdict);
    expect(rollout).not.toHaveProperty("branches");
    expect(textOf(rollout.tokenIds)).toBe(
      `[add]user:2 + 3?$assistant:<think>hmm</think>${adding}$tool:5$assistant:<think>five</think>it is 5$`,
    );
    expect(judgedRowOf(sample).messages.map(({ reasoning_content: thought }) => thought)).toEqual([
      undefined,
      "hmm",
      undefined,
      "five",
    ]);
  });
});
