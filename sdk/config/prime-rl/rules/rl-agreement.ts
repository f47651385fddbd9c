import { pathText } from "../provenance.ts";
import type { Path } from "../types.ts";
import type { RlConfig } from "./configs.ts";
import { isSame, type Scope } from "./scope.ts";
import { parentOf, plainFolder } from "./shared-fields.ts";

/**
 * A shared field that nobody set takes what the components say, where they say the same: otherwise the resolved
 * tree, read again, would contradict itself with a default.
 */
export function liftShared(scope: Scope<RlConfig>): void {
  const { trainer, orchestrator, model, wandb } = scope.value;
  if (!scope.isGiven("output_dir")) scope.derive(["output_dir"], trainer.output_dir, "trainer.output_dir");
  if (model && !scope.isGiven("model", "name")) liftModelName(scope);
  if (wandb && trainer.wandb && orchestrator.wandb && !scope.isGiven("wandb", "project"))
    scope.derive(["wandb", "project"], trainer.wandb.project, "trainer.wandb.project");
}

function liftModelName(scope: Scope<RlConfig>): void {
  const { trainer, orchestrator } = scope.value;
  if (trainer.model.name === orchestrator.model.name)
    scope.derive(["model", "name"], trainer.model.name, "trainer.model.name");
  else
    scope.error(
      ["model", "name"],
      `[model] names no model, and the components name two: ${trainer.model.name} and ${orchestrator.model.name}.`,
      "Set model.name, or leave [model] out.",
    );
}

/** What trainer, orchestrator and servers have to say alike. */
export function checkShared(scope: Scope<RlConfig>): void {
  checkFolders(scope);
  checkModels(scope);
  checkTemplates(scope);
  checkLengths(scope);
  checkPairs(scope);
  checkBroadcasts(scope);
  if (scope.value.wandb?.offline)
    scope.error(
      ["wandb", "offline"],
      "The components of a run share one W&B run, which needs its server.",
      "Set trainer.wandb.offline and orchestrator.wandb.offline, each for itself.",
    );
}

/** Whether the components' values were held against a shared one already, when the fields were shared. */
function isCompared(scope: Scope<RlConfig>, shared: Path, ...values: unknown[]): boolean {
  const isShared = scope.isGiven(...shared) && (scope.draft.get(shared) ?? null) !== null;
  return isShared && values.every((value) => value !== null);
}

function checkFolders(scope: Scope<RlConfig>): void {
  const { trainer, orchestrator } = scope.value;
  if (isCompared(scope, ["output_dir"])) return;
  if (parentOf(orchestrator.output_dir) !== plainFolder(trainer.output_dir))
    scope.error(
      ["orchestrator", "output_dir"],
      `The orchestrator's folder (${orchestrator.output_dir}) does not lie in the trainer's (${trainer.output_dir}).`,
      "Set output_dir for both.",
    );
}

function checkModels(scope: Scope<RlConfig>): void {
  const { trainer, orchestrator, inference } = scope.value;
  const name = orchestrator.model.name;
  if (isCompared(scope, ["model", "name"])) return;
  if (inference && inference.model.name !== name)
    scope.error(
      ["inference", "model", "name"],
      `The servers have ${inference.model.name}, and the orchestrator asks for ${name}.`,
      "Set model.name for every component.",
    );
  if (!inference && trainer.model.name !== name)
    scope.error(
      ["trainer", "model", "name"],
      `The trainer has ${trainer.model.name}, and the orchestrator ${name}.`,
      "Set model.name for every component.",
    );
}

function checkTemplates(scope: Scope<RlConfig>): void {
  const { trainer, orchestrator, inference } = scope.value;
  const template = trainer.tokenizer.chat_template;
  const others: [Path, string | null][] = [
    [["orchestrator", "tokenizer", "chat_template"], orchestrator.tokenizer.chat_template],
    ...(inference
      ? [[["inference", "model", "chat_template"], inference.model.chat_template] as [Path, string | null]]
      : []),
  ];
  for (const [path, other] of others)
    if (other !== template && !isCompared(scope, ["tokenizer", "chat_template"], other, template))
      scope.error(
        path,
        `${pathText(path)} is another template than trainer.tokenizer.chat_template.`,
        "Set tokenizer.chat_template for every component.",
      );
}

function checkLengths(scope: Scope<RlConfig>): void {
  const { trainer, orchestrator } = scope.value;
  // A side that measures stops early; that it measures alone is reported already.
  const isBenchAlone = (trainer.bench !== null) !== orchestrator.bench;
  const [one, other] = [trainer.max_steps, orchestrator.max_steps];
  if (one !== other && !isBenchAlone && !isCompared(scope, ["max_steps"], one, other))
    scope.error(
      ["trainer", "max_steps"],
      `The trainer stops at ${trainer.max_steps ?? "no step"}, the orchestrator at ${orchestrator.max_steps ?? "no step"}.`,
      "Set max_steps for both.",
    );
  if (trainer.model.seq_len < orchestrator.seq_len && !isCompared(scope, ["seq_len"]))
    scope.error(
      ["trainer", "model", "seq_len"],
      `The trainer takes ${trainer.model.seq_len} tokens, and the orchestrator makes up to ${orchestrator.seq_len}.`,
      "Set seq_len for both, or the trainer's to as many.",
    );
}

/** Blocks that exist on both sides or on neither, with some fields alike. */
function checkPairs(scope: Scope<RlConfig>): void {
  const { trainer, orchestrator } = scope.value;
  const pairs = [
    ["ckpt", trainer.ckpt, orchestrator.ckpt, ["interval", "resume_step"]],
    ["wandb", trainer.wandb, orchestrator.wandb, ["project"]],
  ] as const;
  for (const [block, one, other, keys] of pairs) {
    if ((one === null) !== (other === null)) {
      const [has, lacks] = one ? ["trainer", "orchestrator"] : ["orchestrator", "trainer"];
      scope.error([has, block], `${has} has ${block}, and ${lacks} does not.`, `Use [${block}] for both.`);
      continue;
    }
    const [a, b] = [one, other] as (Record<string, unknown> | null)[];
    for (const key of keys)
      if (a && b && !isSame(a[key], b[key]) && !isCompared(scope, [block, key], a[key], b[key]))
        scope.error(
          ["trainer", block, key],
          `trainer.${block}.${key} and orchestrator.${block}.${key} differ.`,
          `Set ${block}.${key} for both.`,
        );
  }
}

function checkBroadcasts(scope: Scope<RlConfig>): void {
  const { trainer, inference } = scope.value;
  const type = trainer.weight_broadcast.type;
  for (const component of ["orchestrator", "inference"] as const) {
    const own = scope.value[component]?.weight_broadcast.type ?? type;
    if (own !== type && !scope.value.weight_broadcast)
      scope.error(
        [component, "weight_broadcast", "type"],
        `The trainer sends weights by ${type}, and ${component} takes them by ${own}.`,
        "Set weight_broadcast.type for every component.",
      );
  }
  const sent = trainer.weight_broadcast;
  const isQuantized = sent.type === "nccl" && sent.quantize_in_weight_transfer;
  if (inference?.enable_eplb && !isQuantized)
    scope.error(
      ["inference", "enable_eplb"],
      "Experts move around only when weights come quantized over NCCL.",
      'Set weight_broadcast.type = "nccl" and quantize_in_weight_transfer = true, or remove enable_eplb.',
    );
}
