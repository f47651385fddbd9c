// Decode speed of the embedded engine through its own front door:
//   node decode.ts MODEL_DIR THREADS BATCHES(1,8,32) PROMPT_TOKENS NEW_TOKENS
import { startEngine } from "../../engine/onnx/engine-client.ts";
import type { EngineApi } from "../../engine/onnx/engine-api.ts";
import { median } from "../figures.ts";

const [modelDir = "", threads = "2", batches = "1,8,32", promptTokens = "32", newTokens = "64"] =
  process.argv.slice(2);
const VOCABULARY = 48_900;

const decode: Record<string, number> = {};
let ttft512Ms = 0;
for (const count of batches.split(",").map(Number)) {
  // All cores are the engine's own here, so its threads may wait by spinning.
  const setup = { modelDir, threads: Number(threads), spinning: true, slots: count, maxPositions: 640 };
  const engine = await startEngine(setup);
  const rates: number[] = [];
  for (let round = 0; round < 3; round++) rates.push(await measure(engine, count, round));
  decode[count] = median(rates);
  if (count === 1) ttft512Ms = await firstToken(engine);
  await engine.close();
}
process.stdout.write(`${JSON.stringify({ decode, ttft512Ms })}\n`);

function prompt(seed: number, length: number): number[] {
  return Array.from({ length }, (_, index) => 200 + ((seed * 7919 + index * 31) % VOCABULARY));
}

/** Tokens per second from the moment every sequence has its first token until the first one is done. */
async function measure(engine: EngineApi, count: number, round: number): Promise<number> {
  let waiting = count;
  let startedAt = 0;
  let counted = 0;
  let endedAt = 0;
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      let produced = 0;
      await engine.generate(request(prompt(index + round * 100, Number(promptTokens)), Number(newTokens)), {
        onTokens: ({ ids }) => {
          for (const _ of ids) {
            produced++;
            if (produced === 1 && --waiting === 0) startedAt = performance.now();
            else if (startedAt > 0 && endedAt === 0) counted++;
          }
        },
      });
      if (endedAt === 0) endedAt = performance.now();
    }),
  );
  return counted / ((endedAt - startedAt) / 1000);
}

async function firstToken(engine: EngineApi): Promise<number> {
  const firsts: number[] = [];
  for (let round = 0; round < 4; round++) {
    const startedAt = performance.now();
    await engine.generate(request(prompt(90 + round, 512), 1));
    firsts.push(performance.now() - startedAt);
  }
  return median(firsts);
}

function request(promptIds: number[], maxNewTokens: number): Parameters<EngineApi["generate"]>[0] {
  return { promptIds, maxNewTokens, temperature: 0, topP: 1, topK: 0, seed: 1, stopIds: [] };
}
