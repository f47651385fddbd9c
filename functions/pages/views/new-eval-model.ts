import * as z from "zod/mini";
import { countUpTo, displayName } from "../../../sdk/schema/common.ts";
import { MAX_SAMPLES_PER_ROW } from "../../../sdk/schema/pass-at.ts";

const count = countUpTo(MAX_SAMPLES_PER_ROW);

/** What the page "New eval" asks for. Rows and code are bundled by the SDK, so they come from what was launched before. */
export const newEval = z.strictObject({
  /** Id of the eval or run whose rows, rewards, tools and way of playing it takes. */
  from: z.string().check(z.minLength(1), z.maxLength(200)),
  /** An endpoint, an alias, a run or `run@step`. */
  endpoint: z.string().check(z.minLength(1), z.maxLength(200)),
  name: z.optional(displayName),
  /** Default: no pass@k, only means. */
  passAt: z._default(z.array(count).check(z.maxLength(20)), []),
  /** Answers to each row. Default: the largest k, else 1. */
  samplesPerRow: z.optional(count),
  passThreshold: z._default(z.number(), 1),
});
export type NewEval = z.infer<typeof newEval>;
export type NewEvalInput = z.input<typeof newEval>;
