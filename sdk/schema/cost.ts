import * as z from "zod/mini";
import { nonNegativeInt, timestampMs } from "./common.ts";

const usd = z.number().check(z.gte(0));

/** What an hour of a container costs, as the price list said when it was launched. */
export const price = z.object({
  /** Instance type, `fargate`, or `this machine`. */
  instance: z.string(),
  hourlyUsd: usd,
  /** GPUs of the instance: all of them are paid for. */
  gpus: nonNegativeInt,
  spot: z.boolean(),
});
export type Price = z.infer<typeof price>;

/** One container of a run or an endpoint: its price, and how long it ran as the control plane saw it. */
export const charge = z.extend(price, {
  attempt: nonNegativeInt,
  /** The conversion of weights that the attempt was of. Absent: of the run or the endpoint itself. */
  conversion: z.optional(z.string()),
  /** When it was first seen to run; waiting for capacity costs nothing. */
  startedAtMs: z.optional(timestampMs),
  /** When it was seen to be over. Absent: it still runs. */
  endedAtMs: z.optional(timestampMs),
});
export type Charge = z.infer<typeof charge>;

/** What containers have cost so far. */
export const spend = z.object({
  usd,
  /** GPUs times seconds. */
  gpuSeconds: z.number().check(z.gte(0)),
  /** What an hour of those that run now costs. */
  hourlyUsd: usd,
});
export type Spend = z.infer<typeof spend>;

/** Memory of one container at its peak, in MiB. */
export const memoryEstimate = z.object({
  neededMiB: nonNegativeInt,
  /** What a container has here. Absent: not known. */
  availableMiB: z.optional(nonNegativeInt),
  /** What it is needed for. */
  parts: z.object({
    program: nonNegativeInt,
    weights: nonNegativeInt,
    optimizer: nonNegativeInt,
    cache: nonNegativeInt,
    pass: nonNegativeInt,
    /** On one machine: the teacher that is served beside the training. */
    teacher: z.optional(nonNegativeInt),
  }),
});
export type MemoryEstimate = z.infer<typeof memoryEstimate>;

const guess = z.object({ seconds: z.number(), usd });

/** `POST /runs/estimate`: what a run would take and cost. */
export const estimate = z.object({
  ...guess.shape,
  /** It may well be this little, or this much. */
  low: guess,
  high: guess,
  ...price.shape,
  basis: z.object({
    /** `measured`: from an earlier run of the same model on the same instance. `default`: a rule of thumb. */
    kind: z.enum(["measured", "default"]),
    /** The run that was measured. */
    runId: z.optional(z.string()),
    /** Tokens that a run gets through in a second, with everything that a step needs. */
    tokensPerS: z.number(),
    /** Tokens of one step, if every answer is as long as it may be. */
    tokensPerStep: z.number(),
    /** The same in words. */
    text: z.string(),
  }),
  /** Of the embedded engine. Absent: nothing is known of the model beforehand. */
  memory: z.optional(memoryEstimate),
  /** What else one should know: hardware that is ignored, a limit that will not be enough. */
  notes: z.array(z.string()),
});
export type Estimate = z.infer<typeof estimate>;
