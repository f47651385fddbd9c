import * as z from "zod/mini";
import { countUpTo } from "./common.ts";

/** What advantages by a critic are made of (arXiv:1506.02438), and how the critic learns (arXiv:1707.06347). */
export const criticSpec = z.strictObject({
  /** What a reward is worth a token earlier. */
  gamma: z._default(z.number().check(z.gt(0), z.lte(1)), 1),
  /** 1: what came, less what was expected. 0: what was expected a token later, less what was expected. */
  lambda: z._default(z.number().check(z.gte(0), z.lte(1)), 0.95),
  /** Of the critic's head alone. */
  learningRate: z._default(z.number().check(z.gt(0), z.lte(10)), 3e-4),
  /** Updates of the critic a step, all on the answers of that step. */
  updates: z._default(countUpTo(1_000), 4),
  /** A value does not move further than this in a step. */
  clip: z._default(z.number().check(z.gt(0)), 0.5),
});
export type CriticSpec = z.infer<typeof criticSpec>;
