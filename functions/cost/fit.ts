import type { Estimate, MemoryEstimate } from "../../sdk/schema/cost.ts";
import { totalMiB, trainingMemory } from "../../sdk/schema/engine-estimate.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { EngineEstimate } from "./estimate-engine.ts";

const DAY_S = 86_400;
const FORCE = "--force, or force: true, goes on all the same.";

/**
 * Refuses a run that its machine cannot hold, or that would take more than a day.
 *
 * @throws SpotterError `memory_exceeded` or `takes_days`, with the figures and what would fit.
 */
export function refuseTooMuch(spec: RunSpec, estimate: Estimate, engine: EngineEstimate | undefined): void {
  const { memory, seconds } = estimate;
  if (memory !== undefined && isTooMuch(memory)) {
    const fits = engine && whatFits(spec, engine, memory.availableMiB ?? 0);
    throw new SpotterError(
      "memory_exceeded",
      `Training ${spec.model.name} like this takes about ${figures(memory)}.`,
      {
        where: "model",
        hint: `${fits ?? "Not even one sequence at a time fits: take a smaller model, or a machine with more memory."} ${FORCE}`,
      },
    );
  }
  if (seconds <= DAY_S) return;
  const steps = Math.floor((spec.trainer.steps * DAY_S) / seconds);
  throw new SpotterError(
    "takes_days",
    `${spec.trainer.steps} steps would take about ${daysText(seconds)} (${daysText(estimate.low.seconds)} to ${daysText(estimate.high.seconds)}). ${estimate.basis.text}`,
    {
      where: "trainer.steps",
      hint: `${steps > 0 ? `A day is enough for about ${steps} steps.` : "A day is not enough for one step: take a smaller model, or shorter and fewer answers."} ${FORCE}`,
    },
  );
}

/** @throws SpotterError `memory_exceeded` for a replica that its machine cannot hold. */
export function refuseReplica(model: string, memory: MemoryEstimate | undefined, where = "model"): void {
  if (memory === undefined || !isTooMuch(memory)) return;
  throw new SpotterError("memory_exceeded", `Serving ${model} takes about ${figures(memory)}.`, {
    where,
    hint: `Take a smaller model, or a machine with more memory. ${FORCE}`,
  });
}

/** "1,234 MiB, and there are 987 MiB (weights 500, …)" */
function figures({ neededMiB, availableMiB = 0, parts }: MemoryEstimate): string {
  const named = Object.entries(parts)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${name} ${count(value)}`);
  return `${count(neededMiB)} MiB, and there are ${count(availableMiB)} MiB (${named.join(", ")})`;
}

/** The least change that makes a run fit, in words. */
export function whatFits(
  spec: RunSpec,
  {
    shape,
    promptTokens,
    teacherMiB = 0,
  }: Pick<EngineEstimate, "shape" | "promptTokens"> & Partial<Pick<EngineEstimate, "teacherMiB">>,
  availableMiB: number,
): string | undefined {
  const needs = (changed: RunSpec) =>
    totalMiB({ ...trainingMemory(changed, shape, promptTokens), teacher: teacherMiB });
  const lora: RunSpec = {
    ...spec,
    adapter: {
      kind: "lora",
      rank: 16,
      targets: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    },
  };
  const bases = spec.adapter.kind === "full" ? [spec, lora] : [spec];
  for (const base of bases) {
    for (let size = spec.trainer.microBatchSize; size >= 1; size = Math.floor(size / 2)) {
      const changed = { ...base, trainer: { ...base.trainer, microBatchSize: size } };
      if (needs(changed) > availableMiB) continue;
      const what = [
        ...(base === spec ? [] : ["an adapter (adapter: lora)"]),
        ...(size === spec.trainer.microBatchSize ? [] : [`microBatchSize ${size}`]),
      ];
      return `With ${what.join(" and ")} it is about ${count(needs(changed))} MiB.`;
    }
  }
  return undefined;
}

function isTooMuch({ neededMiB, availableMiB }: MemoryEstimate): boolean {
  return availableMiB !== undefined && neededMiB > availableMiB;
}

function daysText(seconds: number): string {
  return seconds < DAY_S
    ? `${(seconds / 3_600).toPrecision(2)} h`
    : `${(seconds / DAY_S).toPrecision(2)} days`;
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
