import { expect } from "vitest";
import type { GenerateRequest, PromptReport, TokenAlternative } from "../../../../engine/onnx/engine-api.ts";
import type { InferSession } from "../../../../engine/onnx/models/infer-session.ts";
import { Scheduler, type InferRunner } from "../../../../engine/onnx/sample/scheduler.ts";
import { tinyConfig } from "../fixtures/tiny-model.ts";

const base: GenerateRequest = {
  promptIds: [8, 9, 10],
  maxNewTokens: 12,
  temperature: 0,
  topP: 1,
  topK: 0,
  seed: 0,
  stopIds: [],
};

export interface Outcome {
  ids: number[];
  logprobs: number[];
  top: (TokenAlternative[] | undefined)[];
  prompt?: PromptReport;
  end?: string;
  error?: Error;
  abort: () => void;
}

export function add(scheduler: Scheduler, request: Partial<GenerateRequest>): Outcome {
  const outcome: Outcome = { ids: [], logprobs: [], top: [], abort: () => {} };
  outcome.abort = scheduler.add(
    { ...base, ...request },
    {
      onPrompt(report) {
        expect(outcome).toMatchObject({ ids: [] });
        expect(outcome).not.toHaveProperty("prompt");
        outcome.prompt = report;
      },
      onToken(id, logprob, top) {
        outcome.ids.push(id);
        outcome.logprobs.push(logprob);
        outcome.top.push(top);
      },
      onEnd(reason) {
        outcome.end = reason;
      },
      onError(error) {
        outcome.error = error;
      },
    },
  );
  return outcome;
}

/** Counts the tokens of prompts that are read ahead. */
export class CountingRunner implements InferRunner {
  readonly maxPositions: number;
  promptTokens = 0;
  readonly #session: InferSession;

  constructor(session: InferSession) {
    this.#session = session;
    this.maxPositions = session.maxPositions;
  }

  run(feeds: Parameters<InferRunner["run"]>[0]): ReturnType<InferRunner["run"]> {
    if (feeds.ids.length > feeds.cache.batch) this.promptTokens += feeds.ids.length;
    return this.#session.run(feeds);
  }

  runWithLogits(feeds: Parameters<InferRunner["run"]>[0]): ReturnType<InferRunner["runWithLogits"]> {
    return this.#session.runWithLogits(feeds);
  }
}

export async function finish(scheduler: Scheduler): Promise<number> {
  let steps = 0;
  while (scheduler.busy) {
    await scheduler.step();
    steps++;
  }
  return steps;
}

/** Prompts of many lengths, some sharing a beginning, some the same. */
export function requests(
  count: number,
  overrides: Partial<GenerateRequest> = {},
): Partial<GenerateRequest>[] {
  return Array.from({ length: count }, (_, i) => ({
    promptIds: Array.from({ length: 1 + ((i * 7) % 40) }, (_, k) => 7 + ((k * 13 + (i % 3)) % 250)),
    maxNewTokens: 3 + ((i * 5) % 30),
    seed: i,
    ...overrides,
  }));
}

export async function oneByOne(session: InferSession, list: Partial<GenerateRequest>[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const request of list) {
    const scheduler = new Scheduler(session, tinyConfig, { slots: 1 });
    outcomes.push(add(scheduler, request));
    await finish(scheduler);
  }
  return outcomes;
}
