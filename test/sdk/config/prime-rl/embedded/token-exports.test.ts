import { expect, it } from "vitest";
import { exportedSequence } from "../../../../../sdk/config/prime-rl/embedded/token-exports.ts";

it("exports a sequence as it was learned, and marks what was not", () => {
  const rollout = {
    step: 2,
    index: 0,
    group: 0,
    row: {},
    messages: [],
    environment: "wordle",
    tokenIds: [5, 6, 7, 8],
    mask: [0, 1, 0, 1],
    logprobs: [0, -0.5, 0, -0.25],
    text: "",
    finishReason: "stop",
    verdict: { total: 1, scores: {}, errors: {} },
    advantage: 2,
  };
  expect(exportedSequence(rollout)).toEqual({
    step: 2,
    env_name: "wordle",
    token_ids: [5, 6, 7, 8],
    loss_mask: [false, true, false, true],
    inference_logprobs: [0, -0.5, 0, -0.25],
    advantages: [0, 2, 0, 2],
    reward: 1,
  });
  const { advantage: _, ...unlearned } = rollout;
  expect(exportedSequence({ ...unlearned, verdict: { scores: {}, errors: {} } })).toMatchObject({
    advantages: null,
    reward: null,
  });
});
