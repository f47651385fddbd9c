import type { Graph } from "../graph/graph.ts";
import type { RotaryTables } from "../graph/ops/index.ts";
import type { LlamaConfig } from "./llama-config.ts";
import { scaleFrequency } from "./rope-scaling.ts";

/** Cosines and sines of every position and pair, [positions, hd/2] each (arXiv:2104.09864). */
export function rotaryTables(graph: Graph, config: LlamaConfig, positions: number): RotaryTables {
  const half = config.headSize / 2;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let pair = 0; pair < half; pair++) {
    const frequency = scaleFrequency(config.ropeTheta ** (-pair / half), config.ropeScaling);
    for (let position = 0; position < positions; position++) {
      cos[position * half + pair] = Math.cos(position * frequency);
      sin[position * half + pair] = Math.sin(position * frequency);
    }
  }
  const shape = [positions, half];
  return { cos: graph.constant(cos, shape), sin: graph.constant(sin, shape), positions };
}
