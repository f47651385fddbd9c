import { describe, expect, it } from "vitest";
import { planSft } from "../../../../../sdk/config/prime-rl/embedded/plan-sft.ts";
import { ENTRYPOINTS } from "../../../../../sdk/config/prime-rl/entrypoints.ts";
import { resolve } from "../../../../../sdk/config/prime-rl/resolve.ts";
import type { SftConfig } from "../../../../../sdk/config/prime-rl/rules/configs.ts";

const BASE = `max_steps = 20
[model]
name = "spotter/nano"
[data]
name = "./plan-sft.test.ts"
batch_size = 4
`;

async function plan(words: string[] = []) {
  const readBytes = () => new TextEncoder().encode(BASE);
  const { config, provenance, findings } = await resolve(ENTRYPOINTS.sft, ["@", "sft.toml", ...words], {
    readBytes,
  });
  if (config === null) throw new Error(JSON.stringify(findings, null, 2));
  return planSft(config as unknown as SftConfig, provenance, import.meta.dirname);
}

describe("an sft configuration on this machine", () => {
  it("learns what its loss mask says, the assistant's messages by default", async () => {
    const { params } = await plan();
    expect(params?.recipe.algorithm).toMatchObject({ kind: "sft", batchSize: 4, learnRoles: ["assistant"] });
    const masked = await plan([
      "--data.loss-mask.user",
      "--data.loss-mask.tool",
      "--no-data.loss-mask.assistant",
    ]);
    expect(masked.params?.recipe.algorithm).toMatchObject({ learnRoles: ["user", "tool"] });
  });

  it("learns something", async () => {
    const { params, findings } = await plan(["--no-data.loss-mask.assistant"]);
    expect(params).toBeNull();
    expect(findings).toContainEqual(expect.objectContaining({ severity: "error", path: "data.loss_mask" }));
  });

  it("optimizes as it is told", async () => {
    const { params } = await plan([
      "--optim.type",
      "muon",
      "--scheduler.type",
      "cosine",
      "--scheduler.min-lr",
      "1e-8",
    ]);
    expect(params?.recipe.trainer).toMatchObject({
      optimizer: "muon",
      schedule: "cosine",
      warmupSteps: 10,
      minLearningRate: 1e-8,
    });
  });
});
