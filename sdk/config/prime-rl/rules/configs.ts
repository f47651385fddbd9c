import type * as z from "zod";
import type { Inference } from "../schema/inference.ts";
import type { Orchestrator } from "../schema/orchestrator.ts";
import type { Rl } from "../schema/rl.ts";
import type { Sft } from "../schema/sft.ts";
import type { Trainer } from "../schema/trainer.ts";
import type { TrainerModel } from "../schema/trainer-model.ts";

export type RlConfig = z.output<typeof Rl>;
export type SftConfig = z.output<typeof Sft>;
export type TrainerConfig = z.output<typeof Trainer>;
export type TrainerModelConfig = z.output<typeof TrainerModel>;
export type OrchestratorConfig = z.output<typeof Orchestrator>;
export type InferenceConfig = z.output<typeof Inference>;
export type EnvironmentConfig = OrchestratorConfig["train"]["env"][number];
export type EvalEnvironmentConfig = NonNullable<OrchestratorConfig["eval"]>["env"][number];
