import { createColors } from "picocolors";
import { expect, it } from "vitest";
import type { Rollout } from "../../../sdk/config/project-folder/play/play-project.ts";
import { conversationLines, rolloutLines } from "../../../sdk/cli/commands/project-test-lines.ts";

const COLORS = createColors(false);
const BASE = { number: 3, sample: 1, seed: 0, entry: { index: 7, row: { prompt: [], row: {} } } };
const conversation: Rollout["conversation"] = {
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(1_000)}` } },
      ],
    },
    {
      role: "assistant",
      content: "",
      reasoning_content: "hm",
      tool_calls: [{ id: "1", type: "function", function: { name: "look", arguments: '{"at":1}' } }],
    },
    { role: "tool", content: "line one\nline two" },
  ],
  response: { content: "", reasoning: "", toolCalls: [] },
  finishReason: "stop",
  turns: 1,
  truncated: true,
  promptTokens: 1,
  completionTokens: 1,
  toolErrors: ["look: no \u001b[2Jluck"],
};

it("shows texts, thinking and calls of a conversation, and names images", () => {
  expect(conversationLines({ ...BASE, conversation }, COLORS)).toEqual([
    "  user",
    "    What is this?",
    "    [image_url]",
    "  assistant",
    "    hm",
    '    calls look({"at":1})',
    "  tool",
    "    line one",
    "    line two",
  ]);
});

it("tells of tools that failed and of what had no room; what others wrote moves no terminal", () => {
  const verdict = { total: 0.5, scores: { a: { score: 0.5, weight: 1, precondition: false } }, errors: {} };
  expect(rolloutLines({ ...BASE, conversation, verdict }, undefined, COLORS)).toEqual([
    "Rollout 3 (row 7): ✓ reward=0.500  [a=0.500]",
    "    tool look: no luck",
    "    truncated there was not room for all of it",
  ]);
});

it("tells why a rollout failed, and how to mend it", () => {
  const failure = { code: "timeout", message: "It took too long.", hint: "Wait longer." };
  expect(rolloutLines({ ...BASE, failure }, "rollouts/rollout_1/sample_3.json", COLORS)).toEqual([
    "Rollout 3 (row 7): ✗ It took too long. [timeout]  → rollouts/rollout_1/sample_3.json",
    "    Wait longer.",
  ]);
});
