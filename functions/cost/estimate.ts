import type { Estimate, Price } from "../../sdk/schema/cost.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { EngineEstimate } from "./estimate-engine.ts";

/** What an estimate rests on, apart from the run itself. */
export interface EstimateFacts {
  price: Price;
  /** What its model's own size tells; absent where that is not known. */
  engine?: Pick<EngineEstimate, "secondsPerStep" | "memory" | "text"> | undefined;
  /** The newest run of the same model and kind on the same instance, and how fast it was over all. */
  measured?: { runId: string; tokensPerS: number } | undefined;
  /** What is known already that people should read. */
  notes?: string[];
}

/** Of a model of a billion parameters on a few processors: generating and training together. */
const TOKENS_PER_S_OF_A_BILLION = 8;
/** Until an instance, its image and the model are there. */
const START_SECONDS = 180;
/** How wrong each basis may be: so much less, so much more. */
const RANGE = { measured: [0.7, 1.5], shaped: [0.3, 4], sized: [0.2, 5], unsized: [0.05, 20] } as const;

/** Tokens of one step, if every answer is as long as it may be. */
export function tokensPerStep({ algorithm, rollout }: RunSpec): number {
  const sequences =
    algorithm.kind === "sft" ? algorithm.batchSize : rollout.promptsPerStep * rollout.samplesPerPrompt;
  return sequences * rollout.maxTokens;
}

/** What a run would take and cost: from what an earlier one took, else by a rule of thumb and with a wide range. */
export function estimateCost(spec: RunSpec, facts: EstimateFacts): Estimate {
  const { price, measured, engine, notes = [] } = facts;
  const perStep = tokensPerStep(spec);
  const billions = billionsOf(spec.model.name);
  const byShape = engine && perStep / engine.secondsPerStep;
  const rate = measured?.tokensPerS ?? byShape ?? TOKENS_PER_S_OF_A_BILLION / (billions ?? 1);
  // What was measured includes its start; one's own machine is there already.
  const startSeconds = measured !== undefined || price.hourlyUsd === 0 ? 0 : START_SECONDS;
  const seconds = startSeconds + (spec.trainer.steps * perStep) / rate;
  const [less, more] =
    RANGE[measured ? "measured" : engine ? "shaped" : billions === undefined ? "unsized" : "sized"];
  const guess = (factor: number) => ({
    seconds: Math.ceil(seconds * factor),
    usd: Math.round(((seconds * factor * price.hourlyUsd) / 3_600) * 100) / 100,
  });
  const low = guess(less);
  // The rule of thumb is of processors: nothing may be warned of by it.
  const isForProcessors = spec.engine !== "onnx" && measured === undefined;
  return {
    ...guess(1),
    low,
    high: guess(more),
    ...price,
    basis: {
      kind: measured ? "measured" : "default",
      ...(measured && { runId: measured.runId }),
      tokensPerS: Number(rate.toPrecision(4)),
      tokensPerStep: perStep,
      text: measured
        ? `As fast as ${measured.runId}, which had the same model on the same hardware.`
        : isForProcessors
          ? `That is what processors would take: no run of ${spec.engine} on ${price.instance} has been measured here.`
          : (engine?.text ??
            `A rule of thumb: no run of ${spec.model.name} on ${price.instance} has been measured here.`),
    },
    ...(engine && { memory: engine.memory }),
    notes: [...notes, ...(isForProcessors ? [] : limitNotes(spec, low)), ...spotNotes(price)],
  };
}

function limitNotes({ limits }: RunSpec, low: { seconds: number; usd: number }): string[] {
  const { maxCostUsd, durationMs } = limits;
  return [
    ...(maxCostUsd !== undefined && maxCostUsd < low.usd
      ? [`limits.maxCostUsd is $${maxCostUsd.toFixed(2)}: it will most likely stop before its last step.`]
      : []),
    ...(durationMs !== undefined && durationMs < low.seconds * 1_000
      ? [
          `limits.durationMs is ${Math.round(durationMs / 1_000)} s: it will most likely stop before its last step.`,
        ]
      : []),
  ];
}

function spotNotes({ spot }: Price): string[] {
  return spot
    ? ["Spot prices move, and a run that is taken back repeats steps since its last checkpoint."]
    : [];
}

/** Parameters as the name tells them, as in Qwen3-0.6B or SmolLM2-135M; undefined where it does not. */
function billionsOf(name: string): number | undefined {
  if (name === "spotter/nano") return 0.000_95;
  const found = /(?:^|[^a-z0-9.])(\d+(?:\.\d+)?)([bm])(?![a-z0-9])/i.exec(name.split("/").at(-1) ?? "");
  if (found === null) return undefined;
  const amount = Number(found[1]) / (found[2]?.toLowerCase() === "m" ? 1_000 : 1);
  return amount > 0 ? amount : undefined;
}
