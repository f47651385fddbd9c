// How llama.cpp goes on with a text, through node-llama-cpp; names of control tokens in it are these.
//
//   node greedy.mjs MODEL.gguf TEXT NEW_TOKENS
//
// Prints one JSON line: { "prompt": [ids of the text], "ids": [the likeliest tokens after it] }.
import { getLlama } from "node-llama-cpp";

const [path, text, count] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: "never", maxThreads: 2, logLevel: "error" });
const model = await llama.loadModel({ modelPath: path });
const context = await model.createContext({ contextSize: 256, threads: 2 });
const prompt = model.tokenize(text, true);
const ids = [];
for await (const id of context.getSequence().evaluate(prompt, { temperature: 0 })) {
  ids.push(id);
  if (ids.length === Number(count)) break;
}
process.stdout.write(`${JSON.stringify({ prompt, ids })}\n`, () => process.exit(0));
