import * as z from "zod/mini";
import { countUpTo } from "./common.ts";

/** GPUs that a cloud home knows instances for; its prices are in functions/cost/prices.json. */
export const gpuClass = z.enum([
  "T4",
  "A10G",
  "L4",
  "L40S",
  "A100-40GB",
  "A100-80GB",
  "H100",
  "H200",
  "B200",
]);
export type GpuClass = z.infer<typeof gpuClass>;

/** What one container needs. One machine runs on what it has and ignores it. */
export const hardware = z.strictObject({
  /** Absent: a processor is enough, as for the embedded engine. */
  gpu: z.optional(gpuClass),
  /** GPUs, on one instance. */
  count: z._default(countUpTo(8), 1),
  /** Cheaper, and may be taken away at two minutes' notice; the run goes on from its last checkpoint. */
  spot: z._default(z.boolean(), false),
});
export type Hardware = z.infer<typeof hardware>;
