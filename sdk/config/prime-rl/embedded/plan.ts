import type { Dataset } from "../../../dataset.ts";
import type { LoraParams, TrainConfigParams } from "../../../train-config.ts";
import { modelLimits } from "../../model-limits.ts";
import type { RlConfig, SftConfig, TrainerConfig } from "../rules/configs.ts";
import type { Finding } from "../types.ts";
import { optimizerOf, scheduleOf } from "./optimizer.ts";

/** A resolved configuration as the training that a script would describe, for the embedded engine. */
export interface EmbeddedPlan {
  /** Null where a finding is an error. */
  params: TrainConfigParams | null;
  findings: Finding[];
  /** Where exports go. */
  outputDir: string;
  /** `trainer.enable_token_export`. */
  exportsTokens: boolean;
}

/** Finds what cannot be done as it is written; the place of each value is known by its path. */
export class Notes {
  readonly findings: Finding[] = [];
  readonly #provenance: Readonly<Record<string, string>>;

  constructor(provenance: Readonly<Record<string, string>>) {
    this.#provenance = provenance;
  }

  get hasErrors(): boolean {
    return this.findings.some(({ severity }) => severity === "error");
  }

  refuse(path: string, message: string, hint: string): void {
    this.#add("error", "route_unsupported", path, message, hint);
  }

  lower(path: string, message: string): void {
    this.#add(
      "warning",
      "clamped",
      path,
      message,
      "Nothing needs to be done; a larger model takes it as it is.",
    );
  }

  tell(path: string, message: string, hint: string): void {
    this.#add("warning", "setting_ignored", path, message, hint);
  }

  #add(severity: Finding["severity"], code: string, path: string, message: string, hint: string): void {
    const [, file = null, line] = /^(.+):(\d+)$/.exec(this.#provenance[path] ?? "") ?? [];
    this.findings.push({
      code,
      severity,
      path,
      message,
      hint,
      file,
      line: line === undefined ? null : Number(line),
      column: null,
    });
  }
}

const TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"] as const;

/**
 * The trainer's adapter; the modules of mixtures of experts, which no model here has, are left out. A rank above the
 * model's width is lowered, with the weight of the adapter kept as it is. `path`: of the adapter's section.
 */
export function adapterOf(
  notes: Notes,
  path: string,
  lora: TrainerConfig["model"]["lora"],
  model: string,
): LoraParams | "full" {
  if (lora === null) return "full";
  const targets = TARGETS.filter((target) => lora.target_modules.includes(target));
  const { rank: most = lora.rank } = modelLimits(model);
  if (lora.rank <= most) return { kind: "lora", rank: lora.rank, alpha: lora.alpha, targets };
  notes.lower(
    `${path}.rank`,
    `${path}.rank is ${lora.rank}; ${model} is ${most} wide, so it is ${most} here.`,
  );
  return { kind: "lora", rank: most, alpha: (lora.alpha * most) / lora.rank, targets };
}

type Optimizer = TrainerConfig["optim"];
type Schedule = TrainerConfig["scheduler"];

/** What steps of both kinds have alike. `at` is the path of the trainer. */
export function stepsOf(
  notes: Notes,
  at: "trainer." | "",
  trainer: {
    optim: Optimizer;
    scheduler: Schedule;
    max_steps: number | null;
    ckpt: { interval: number | null } | null;
  },
) {
  const { optim, scheduler, max_steps: steps, ckpt } = trainer;
  if (steps === null || steps < 1)
    notes.refuse(
      "max_steps",
      steps === null ? "A run on one machine needs an end." : `${steps} steps train nothing.`,
      "Set max_steps to 1 or more, for example --max-steps 20.",
    );
  return {
    steps: steps ?? 1,
    ...optimizerOf(notes, at, optim),
    ...scheduleOf(notes, at, { scheduler, lr: optim.lr, steps: steps ?? Infinity }),
    ...(ckpt?.interval == null ? {} : { saveEvery: ckpt.interval }),
  };
}

/** What is kept with a run: names and tags for people, checkpoints that `spotter cleanup` leaves, variables. */
export function aboutOf(
  config: RlConfig | SftConfig,
  envVars: Record<string, string>,
): Pick<TrainConfigParams, "name" | "tags" | "retention" | "env"> {
  const { wandb, ckpt } = config;
  const tags = [...(wandb?.tags ?? []), ...(wandb?.group ? [wandb.group] : [])];
  const keeps = { keepLast: ckpt?.keep_last, keepEvery: ckpt?.keep_interval };
  const retention = Object.fromEntries(Object.entries(keeps).filter(([, value]) => value != null));
  return {
    ...(wandb?.name ? { name: wandb.name } : {}),
    ...(tags.length > 0 ? { tags } : {}),
    ...(Object.keys(retention).length > 0 ? { retention } : {}),
    ...(Object.keys(envVars).length > 0 ? { env: envVars } : {}),
  };
}

/** A cluster that was asked for is not used, and that is no surprise afterwards. */
export function tellSlurm(notes: Notes, slurm: unknown): void {
  if (slurm != null)
    notes.tell("slurm", "The gym schedules instead of SLURM.", "Remove [slurm], or keep it for a GPU host.");
}

/** A window that the model has; what asks for more is lowered, and said. */
export function windowOf(notes: Notes, path: string, asked: number, model: string): number {
  const { window } = modelLimits(model);
  if (window === undefined || asked <= window) return asked;
  notes.lower(path, `${path} is ${asked}; ${model} takes ${window} tokens, so it is ${window} here.`);
  return window;
}

export type { Dataset };
