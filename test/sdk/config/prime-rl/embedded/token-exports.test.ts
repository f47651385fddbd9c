import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import {
  exportedSequences,
  prepareExports,
} from "../../../../../sdk/config/prime-rl/embedded/token-exports.ts";
import { makeFolder } from "../../../../../sdk/config/prime-rl/output-folder.ts";

it("is refused before anything trains where nothing can be written", () => {
  const folder = mkdtempSync(join(tmpdir(), "spotter-exports-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  prepareExports(join(folder, "a/b"));
  expect(existsSync(join(folder, "a/b/token_exports"))).toBe(true);
  writeFileSync(join(folder, "file"), "");
  expect(() => prepareExports(join(folder, "file"))).toThrow("The token export cannot write under");
  // Node's own recursive way never comes back from there.
  expect(() => makeFolder("/proc/none/below")).toThrow();
});

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
  expect(exportedSequences(rollout)).toEqual([
    {
      step: 2,
      env_name: "wordle",
      token_ids: [5, 6, 7, 8],
      loss_mask: [false, true, false, true],
      inference_logprobs: [0, -0.5, 0, -0.25],
      advantages: [0, 2, 0, 2],
      reward: 1,
    },
  ]);
  const { advantage: _, ...unlearned } = rollout;
  expect(exportedSequences({ ...unlearned, verdict: { scores: {}, errors: {} } })).toMatchObject([
    { advantages: null, reward: null },
  ]);
  const branches = [{ tokenIds: [5, 9], mask: [0, 1], logprobs: [0, -1] }];
  expect(exportedSequences({ ...rollout, branches })).toMatchObject([
    { token_ids: [5, 9], inference_logprobs: [0, -1], advantages: [0, 2], reward: 1 },
    { token_ids: [5, 6, 7, 8], advantages: [0, 2, 0, 2], reward: 1 },
  ]);
});
