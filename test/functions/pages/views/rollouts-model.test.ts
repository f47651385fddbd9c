import { describe, expect, it } from "vitest";
import {
  chooseRollouts,
  offeredSteps,
  shownRollout,
  summarize,
  type ShownRollout,
} from "../../../../functions/pages/views/rollouts-model.ts";

const rollout = (index: number, total?: number): ShownRollout => ({
  ...{ index, group: 0, messages: [], text: "", finishReason: "stop", tokens: 1 },
  verdict: { ...(total !== undefined && { total }), scores: {}, errors: {} },
});
const all = [rollout(0, 2), rollout(1), rollout(2, -1), rollout(3, 5), rollout(4, 2)];
const indexes = (rollouts: ShownRollout[]) => rollouts.map(({ index }) => index);

describe("the choice of rollouts", () => {
  it("sorts by reward either way; what has no verdict comes last", () => {
    expect(indexes(chooseRollouts(all, { sort: "best" }))).toEqual([3, 0, 4, 2, 1]);
    expect(indexes(chooseRollouts(all, { sort: "worst" }))).toEqual([2, 0, 4, 3, 1]);
    expect(indexes(chooseRollouts(all.toReversed(), { sort: "sampled" }))).toEqual([0, 1, 2, 3, 4]);
  });

  it("keeps those between the limits, limits included", () => {
    expect(indexes(chooseRollouts(all, { sort: "best", min: 2 }))).toEqual([3, 0, 4]);
    expect(indexes(chooseRollouts(all, { sort: "best", min: -1, max: 2 }))).toEqual([0, 4, 2]);
    expect(chooseRollouts(all, { sort: "best", min: 9 })).toEqual([]);
  });

  it("is summed up over verdicts only", () => {
    expect(summarize(all)).toEqual({ mean: 2, low: -1, high: 5, missing: 1 });
    expect(summarize([rollout(0)])).toBeUndefined();
  });
});

describe("the steps to pick from", () => {
  it("are all of them, or an even choice with both ends and the current one", () => {
    expect(offeredSteps([2, 4, 6], 4)).toEqual([2, 4, 6]);
    expect(offeredSteps([], 7)).toEqual([7]);
    const many = Array.from({ length: 10_000 }, (_, index) => index + 1);
    const offered = offeredSteps(many, 1_234);
    expect(offered.length).toBeLessThan(210);
    expect([offered[0], offered.at(-1), offered.includes(1_234)]).toEqual([1, 10_000, true]);
  });
});

describe("a shown rollout", () => {
  it("counts sampled tokens and turns any content into text", () => {
    const shown = shownRollout({
      ...{ step: 1, index: 3, group: 1, row: {}, text: "x", finishReason: "length" },
      ...{ tokenIds: [1, 2, 3], mask: [0, 1, 1], logprobs: [0, 0, 0] },
      messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }, { role: "assistant" }],
      verdict: { scores: {}, errors: {} },
    });
    expect(shown.tokens).toBe(2);
    const branch = { tokenIds: [1, 2], mask: [0, 1], logprobs: [0, -1] };
    expect(
      shownRollout({
        ...{ step: 1, index: 3, group: 1, row: {}, text: "x", finishReason: "stop" },
        ...{ tokenIds: [1, 2, 3], mask: [0, 1, 1], logprobs: [0, 0, 0], branches: [branch] },
        messages: [],
        verdict: { scores: {}, errors: {} },
      }).tokens,
    ).toBe(3);
    expect(shown.messages.map(({ content }) => content)).toEqual(['[{"type":"text","text":"hi"}]', ""]);
  });

  it("shows the last answer of a conversation, and what was called and answered in it", () => {
    const call = { type: "function", function: { name: "add", arguments: '{"a":2}' } };
    const shown = shownRollout({
      ...{ step: 1, index: 0, group: 0, row: {}, text: "all of it in one", finishReason: "stop" },
      ...{ tokenIds: [1], mask: [1], logprobs: [0], turns: 2, environment: "sums", truncated: true },
      messages: [
        { role: "user", content: "2 and?" },
        { role: "assistant", content: "", tool_calls: [call] },
        { role: "tool", name: "add", content: "5" },
        { role: "assistant", content: "it is 5" },
      ],
      verdict: { scores: {}, errors: {} },
    });
    expect(shown).toMatchObject({ text: "it is 5", turns: 2, environment: "sums", truncated: true });
    expect(shown.messages.slice(1, 3)).toEqual([
      { role: "assistant", content: 'add({"a":2})' },
      { role: "tool add", content: "5" },
    ]);
  });
});
