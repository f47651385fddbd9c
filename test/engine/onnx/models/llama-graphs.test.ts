import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { modelFolder } from "../../../../engine/model-files.ts";
import type { Graph } from "../../../../engine/onnx/graph/graph.ts";
import { inferGraph } from "../../../../engine/onnx/models/infer-graph.ts";
import { loadLlamaConfig } from "../../../../engine/onnx/models/llama-config.ts";
import { Policy } from "../../../../engine/onnx/models/policy.ts";
import { trainGraph } from "../../../../engine/onnx/models/train-graph.ts";
import { randomAdapter } from "../../../../engine/onnx/train/init.ts";

const maxPositions = 64;

/**
 * What other families need must cost Llama nothing: the graphs of spotter/nano are these bytes, weights aside.
 * Whoever changes Llama's graphs on purpose measures their speed, and puts the new hashes here.
 */
describe("the graphs of spotter/nano", () => {
  it.each([
    ["decoding", false, "21ebf0a609263426eeaaefb1378b8185fbf3b3629b582affd6787350e6c1f631"],
    ["decoding with an adapter", true, "4f208495055f9ccd86875da6c3b49f29e0e9a67c7694f417a42bdf37a798fa24"],
  ])("%s is as it was measured", async (_name, adapter, hash) => {
    const policy = await nano(adapter);
    expect(hashOf(inferGraph(policy, { base: "packed", adapter: "shared", maxPositions }))).toBe(hash);
  });

  it.each([
    ["training", false, "8bdea87c1d182884b140d70583dccb390de312f5ec49de4b2db40e5771c2e3e1"],
    ["training an adapter", true, "17a735c4ec8f6b4a519db8864ddf88c152fef89cfa8914d589f914d50d9c9739"],
  ])("%s is as it was measured", async (_name, adapter, hash) => {
    const policy = await nano(adapter);
    const trainable = policy.adapter?.parameters ?? policy.parameters;
    expect(hashOf(trainGraph(policy, { maxPositions, trainable }))).toBe(hash);
  });
});

async function nano(adapter: boolean): Promise<Policy> {
  const policy = new Policy(await loadLlamaConfig(await modelFolder({ name: "spotter/nano" })));
  const setup = { rank: 4, alpha: 8, targets: ["q_proj", "v_proj", "o_proj", "up_proj"] };
  if (adapter) policy.adapter = randomAdapter(policy.config, setup, 1);
  return policy;
}

function hashOf(graph: Graph): string {
  return createHash("sha256").update(graph.encode()).digest("hex");
}
