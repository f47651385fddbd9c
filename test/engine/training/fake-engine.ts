import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DatasetRow } from "../../../sdk/schema/dataset.ts";
import type { EngineApi, EngineSetup, GenerateRequest, TrainBatch } from "../../../engine/onnx/engine-api.ts";
import { EOS } from "./character-model.ts";

/** An engine of one weight and one moment: what it samples and learns is plain arithmetic, and exact. */
export interface FakeEngine extends EngineApi {
  setup: EngineSetup;
  weight: number;
  moment: number;
  /** What the weight was when each request came. */
  sampledAt: Map<GenerateRequest, number>;
  batches: TrainBatch[];
  requests: GenerateRequest[];
  closed: boolean;
}

export async function startFakeEngine(setup: EngineSetup): Promise<FakeEngine> {
  const dir = setup.adapterDir ?? setup.modelDir;
  const engine: FakeEngine = {
    setup,
    weight: JSON.parse(await readFile(join(dir, "weight.json"), "utf8")) as number,
    moment: 0,
    sampledAt: new Map(),
    batches: [],
    requests: [],
    closed: false,
    generate: async (request, options) => {
      options?.signal?.throwIfAborted();
      engine.requests.push(request);
      engine.sampledAt.set(request, engine.weight);
      // Later requests end first, so that composing a batch by timing would show.
      await new Promise((resolve) => setTimeout(resolve, 3 - (engine.requests.length % 3)));
      options?.signal?.throwIfAborted();
      const length = 1 + (request.seed % 5);
      const ids = Array.from(
        { length },
        (_, at) => 10 + ((request.seed + at + Math.floor(engine.weight)) % 90),
      );
      const answer = [...ids, EOS].slice(0, request.maxNewTokens);
      return {
        ids: answer,
        logprobs: answer.map((id) => -id / 100),
        finishReason: answer.at(-1) === EOS ? ("stop" as const) : ("length" as const),
      };
    },
    score: async (sequences) => sequences.map((ids) => ids.map((id, at) => (at === 0 ? 0 : -id / 50))),
    trainStep: async (batch) => {
      engine.batches.push(structuredClone(batch));
      const learnt = batch.sequences.map(({ ids, mask, advantages }) =>
        ids.reduce((sum, id, at) => sum + (mask[at] ?? 0) * (advantages[at] ?? 0) * id, 0),
      );
      engine.moment = 0.5 * engine.moment + learnt.reduce((sum, value) => sum + value, 0);
      engine.weight += batch.learningRate * engine.moment;
      return {
        loss: 1,
        gradNorm: 2,
        kl: 0,
        entropy: 3,
        clipFraction: 0,
        tokens: batch.sequences.flatMap(({ mask }) => mask).filter((each) => each === 1).length,
        logprobs: batch.sequences.map(({ mask, oldLogprobs }) =>
          mask.flatMap((each, at) => (each === 1 ? (oldLogprobs?.[at] ?? 0) + 0.001 : [])),
        ),
      };
    },
    saveModel: async (to) => writeJson(to, "weight.json", engine.weight),
    saveTrainerState: async (to) => writeJson(to, "moment.json", engine.moment),
    loadTrainerState: async (from) => {
      engine.moment = JSON.parse(await readFile(join(from, "moment.json"), "utf8")) as number;
    },
    close: async () => {
      engine.closed = true;
    },
  };
  return engine;
}

export function promptRow(text: string, completion?: string): DatasetRow {
  return {
    prompt: [{ role: "user", content: text }],
    row: { text },
    ...(completion === undefined ? {} : { completion }),
  };
}

async function writeJson(dir: string, name: string, value: number): Promise<void> {
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, name), JSON.stringify(value));
}
