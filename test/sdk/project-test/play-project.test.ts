import { expect, it } from "vitest";
import { inOrder } from "../../../sdk/config/project-folder/play/in-order.ts";
import { playProject, type Rollout } from "../../../sdk/config/project-folder/play/play-project.ts";
import type { Entry, Turn } from "../../../sdk/config/project-folder/play/player.ts";
import { sleep } from "../../../sdk/retry.ts";

async function* entries(count: number): AsyncGenerator<Entry> {
  for (let index = 0; index < count; index++)
    yield { index, row: { prompt: [{ role: "user", content: "Go." }], row: {} } };
}

const SETTINGS = {
  maxTurns: 1,
  terminationPolicy: "last_tool",
  contextTokens: 100,
  includeThinking: false,
} as const;

async function played(
  answer: (turn: Turn) => Promise<string>,
  more: { repeat?: number; timeoutMs?: number } = {},
) {
  const rollouts: Rollout[] = [];
  for await (const rollout of playProject({
    entries: entries(3),
    repeat: 1,
    seed: 5,
    player: {
      async answer(turn) {
        const content = await answer(turn);
        return {
          response: { content, reasoning: "", toolCalls: [] },
          finishReason: "stop",
          promptTokens: 1,
          completionTokens: 1,
        };
      },
    },
    code: {
      asked: () => 0,
      rewards: ["one"],
      tools: [],
      callTools: async () => [],
      close: async () => undefined,
      judge: async (rows) => rows.map(() => ({ total: 1, scores: {}, errors: {} })),
    },
    settings: SETTINGS,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ...more,
  }))
    rollouts.push(rollout);
  return rollouts;
}

it("plays side by side and yields in order, whoever is first; seeds hang on row and sample alone", async () => {
  const slowFirst = await played(
    async ({ entry }) => {
      await sleep(entry.index === 0 ? 20 : 0);
      return "x";
    },
    { repeat: 2 },
  );
  expect(slowFirst.map(({ number, entry, sample }) => [number, entry.index, sample])).toEqual([
    [1, 0, 1],
    [2, 0, 2],
    [3, 1, 1],
    [4, 1, 2],
    [5, 2, 1],
    [6, 2, 2],
  ]);
  const again = await played(async () => "x", { repeat: 2 });
  expect(again.map(({ seed }) => seed)).toEqual(slowFirst.map(({ seed }) => seed));
  expect(new Set(again.map(({ seed }) => seed)).size).toBe(6);
});

it("ends no other rollout when one fails or is later than rollout_timeout", async () => {
  const rollouts = await played(
    async ({ entry, signal }) => {
      if (entry.index === 0) throw new Error("no luck");
      if (entry.index === 1) await sleep(10_000, signal);
      return "x";
    },
    { timeoutMs: 20 },
  );
  expect(rollouts.map(({ failure, verdict }) => failure?.code ?? verdict?.total)).toEqual([
    "internal",
    "timeout",
    1,
  ]);
  expect(rollouts[1]?.failure?.message).toBe("The conversation took longer than 0.02 s.");
});

it("works on no more at once than it is told", async () => {
  let now = 0;
  let most = 0;
  const results: number[] = [];
  for await (const result of inOrder(entries(10), 3, async ({ index }) => {
    most = Math.max(most, ++now);
    await sleep(1);
    now--;
    return index;
  }))
    results.push(result);
  expect(results).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(most).toBe(3);
});
