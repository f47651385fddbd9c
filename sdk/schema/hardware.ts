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
export const hardware = z
  .strictObject({
    /** Absent: a processor is enough, as for the embedded engine. */
    gpu: z.optional(gpuClass),
    /** Taken in turn, each when there has been no room for ten minutes on the one before. */
    fallbacks: z.optional(z.array(gpuClass).check(z.minLength(1), z.maxLength(8))),
    /** GPUs, on one instance. */
    count: z._default(countUpTo(8), 1),
    /** Instances with so many GPUs each, for an engine that trains over several. Absent: one. */
    nodes: z.optional(countUpTo(64)),
    /** Cheaper, and may be taken away at two minutes' notice; the run goes on from its last checkpoint. */
    spot: z._default(z.boolean(), false),
  })
  .check(
    z.refine(({ gpu, fallbacks }) => fallbacks === undefined || gpu !== undefined, {
      path: ["fallbacks"],
      message: "are GPUs to take instead of gpu, which is missing",
    }),
  );
export type Hardware = z.infer<typeof hardware>;

/** What may be taken: the GPU that is wanted, then its fallbacks. */
export function hardwareChoices(wanted: Hardware): Hardware[] {
  const { gpu, fallbacks = [] } = wanted;
  return gpu === undefined ? [wanted] : [gpu, ...fallbacks].map((each) => ({ ...wanted, gpu: each }));
}

/** The choice of a container after so many that found no room; after the last comes the first again. */
export function hardwareChoice(wanted: Hardware, withoutRoom: number): Hardware {
  const choices = hardwareChoices(wanted);
  return choices[withoutRoom % choices.length] ?? wanted;
}
