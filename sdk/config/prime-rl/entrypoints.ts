import type { Entrypoint } from "./types.ts";
import { Inference } from "./schema/inference.ts";
import { Orchestrator } from "./schema/orchestrator.ts";
import { Rl } from "./schema/rl.ts";
import { Sft } from "./schema/sft.ts";
import { Trainer } from "./schema/trainer.ts";

export type EntrypointName = "rl" | "sft" | "inference" | "trainer" | "orchestrator";

/** The commands that take a configuration, each with its fields and rules. */
export const ENTRYPOINTS: Readonly<Record<EntrypointName, Entrypoint>> = {
  rl: { name: "rl", schema: Rl },
  sft: { name: "sft", schema: Sft },
  inference: { name: "inference", schema: Inference },
  trainer: { name: "trainer", schema: Trainer },
  orchestrator: { name: "orchestrator", schema: Orchestrator },
};
