import * as z from "zod/mini";
import { nonNegativeInt } from "./common.ts";
import { interval } from "./eval.ts";

/** One number of two evals over the rows that both judged, and how much more the second has. */
export const compared = z.object({
  first: z.number(),
  second: z.number(),
  /** Second less first, row by row, with a paired 95 % interval. */
  difference: interval,
});
export type Compared = z.infer<typeof compared>;

/** Answer of `GET /evals/:id/compare/:other`. */
export const evalComparison = z.object({
  first: z.string(),
  second: z.string(),
  /** Rows that both judged, and of them those where the second is better, worse and the same. */
  rows: nonNegativeInt,
  better: nonNegativeInt,
  worse: nonNegativeInt,
  same: nonNegativeInt,
  /** Mean total. */
  score: compared,
  /** Mean of each reward that both have. */
  scores: z.record(z.string(), compared),
  /** pass@k of each k that both have. */
  passes: z.record(z.string(), compared),
  /** What makes the two less alike than they should be. */
  notes: z.array(z.string()),
});
export type EvalComparison = z.infer<typeof evalComparison>;
