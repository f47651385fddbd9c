// Decode speed of llama.cpp through node-llama-cpp.
//
//   node decode.mjs MODEL.gguf THREADS BATCHES(1,8,32) PROMPT_TOKENS NEW_TOKENS
//
// Prints one JSON line: { "decode": { "1": tokensPerS, ... }, "ttft512Ms": n, "version": "..." }.
import { readFileSync } from "node:fs";
import { getLlama } from "node-llama-cpp";

const [path, threads, batches, promptTokens, newTokens] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: "never", maxThreads: Number(threads), logLevel: "error" });
const model = await llama.loadModel({ modelPath: path });
const vocabulary = 48900;
const prompt = (seed, length) =>
  Array.from({ length }, (_, index) => 200 + ((seed * 7919 + index * 31) % vocabulary));

const decode = {};
for (const count of batches.split(",").map(Number)) {
  const context = await model.createContext({
    sequences: count,
    contextSize: 128,
    threads: Number(threads),
    batchSize: 512,
  });
  const sequences = Array.from({ length: count }, () => context.getSequence());
  const rates = [];
  for (let round = 0; round < 3; round++) {
    rates.push(await measure(sequences, round));
    for (const sequence of sequences) await sequence.clearHistory();
  }
  decode[count] = rates.sort((a, b) => a - b)[1];
  await context.dispose();
}

const context = await model.createContext({
  sequences: 1,
  contextSize: 640,
  threads: Number(threads),
  batchSize: 512,
});
const sequence = context.getSequence();
const firsts = [];
for (let round = 0; round < 4; round++) {
  const startedAt = performance.now();
  for await (const _ of sequence.evaluate(prompt(90 + round, 512), { temperature: 0 })) break;
  firsts.push(performance.now() - startedAt);
  await sequence.clearHistory();
}
const version = JSON.parse(
  readFileSync(new URL("./node_modules/node-llama-cpp/package.json", import.meta.url)),
).version;
console.log(JSON.stringify({ decode, ttft512Ms: firsts.sort((a, b) => a - b)[1], version }));
process.exit(0);

/** Tokens per second from the moment every sequence has its first token until the first one is done. */
async function measure(sequences, round) {
  let waiting = sequences.length;
  let startedAt = 0;
  let counted = 0;
  let endedAt = 0;
  await Promise.all(
    sequences.map(async (sequence, index) => {
      let produced = 0;
      for await (const _ of sequence.evaluate(prompt(index + round * 100, Number(promptTokens)), {
        temperature: 0,
        yieldEogToken: true,
      })) {
        produced++;
        if (produced === 1 && --waiting === 0) startedAt = performance.now();
        else if (startedAt > 0 && endedAt === 0) counted++;
        if (produced >= Number(newTokens)) break;
      }
      if (endedAt === 0) endedAt = performance.now();
    }),
  );
  return counted / ((endedAt - startedAt) / 1000);
}
