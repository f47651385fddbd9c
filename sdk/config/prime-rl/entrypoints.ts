import { resolve } from "node:path";
import { finishInference } from "./rules/inference.ts";
import { dropGpuCount, renameAttention, renameOrchestrator } from "./rules/legacy.ts";
import { finishOrchestrator } from "./rules/orchestrator.ts";
import { finishRl } from "./rules/rl.ts";
import { Scope } from "./rules/scope.ts";
import { finishSft } from "./rules/sft.ts";
import { shareFields } from "./rules/shared-fields.ts";
import { finishTrainer } from "./rules/trainer.ts";
import { Inference } from "./schema/inference.ts";
import { Orchestrator } from "./schema/orchestrator.ts";
import { Rl } from "./schema/rl.ts";
import { Sft } from "./schema/sft.ts";
import { Trainer } from "./schema/trainer.ts";
import type { Draft, Entrypoint, Path } from "./types.ts";

export type EntrypointName = "rl" | "sft" | "inference" | "trainer" | "orchestrator";

/** The commands that take a configuration, each with its fields and rules. */
export const ENTRYPOINTS: Readonly<Record<EntrypointName, Entrypoint>> = {
  rl: {
    name: "rl",
    schema: Rl,
    before(draft) {
      renameOrchestrator(draft, ["orchestrator"]);
      renameAttention(draft, ["trainer", "model"]);
      shareFields(draft);
    },
    after(_, draft) {
      for (const at of [["slurm"], ["inference", "slurm"]]) placeProject(draft, at);
      finishRl(new Scope(draft));
    },
  },
  sft: {
    name: "sft",
    schema: Sft,
    before(draft) {
      renameAttention(draft, ["model"]);
      dropGpuCount(draft);
    },
    after(_, draft) {
      placeProject(draft, ["slurm"]);
      finishSft(new Scope(draft));
    },
  },
  inference: {
    name: "inference",
    schema: Inference,
    after(_, draft) {
      placeProject(draft, ["slurm"]);
      finishInference(new Scope(draft));
    },
  },
  trainer: {
    name: "trainer",
    schema: Trainer,
    before: (draft) => renameAttention(draft, ["model"]),
    after: (_, draft) => finishTrainer(new Scope(draft)),
  },
  orchestrator: {
    name: "orchestrator",
    schema: Orchestrator,
    before: (draft) => renameOrchestrator(draft, []),
    after: (_, draft) => finishOrchestrator(new Scope(draft)),
  },
};

/** A job starts in another folder than the command: its project folder is absolute. */
function placeProject(draft: Draft, slurm: Path): void {
  const folder = draft.get([...slurm, "project_dir"]);
  if (typeof folder === "string") new Scope(draft, slurm).derive(["project_dir"], resolve(folder), "slurm");
}
