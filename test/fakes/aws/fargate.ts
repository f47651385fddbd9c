import type { InstanceResources } from "./instance-types.ts";

/** The memory that each size of processor comes with: from, to, in steps of, all in MiB. */
const sizes: Record<number, [fromMiB: number, toMiB: number, stepMiB: number]> = {
  256: [512, 2_048, 512],
  512: [1_024, 4_096, 1_024],
  1_024: [2_048, 8_192, 1_024],
  2_048: [4_096, 16_384, 1_024],
  4_096: [8_192, 30_720, 1_024],
  8_192: [16_384, 61_440, 4_096],
  16_384: [32_768, 122_880, 8_192],
};

/** Why Fargate has no such size; undefined when it has. */
export function fargateSizeProblem({ cpu, memoryMiB, gpus }: InstanceResources): string | undefined {
  if (gpus > 0) return "Fargate has no GPU.";
  const [from, to, step] = sizes[cpu] ?? [];
  const fits =
    from !== undefined &&
    to !== undefined &&
    step !== undefined &&
    memoryMiB >= from &&
    memoryMiB <= to &&
    // The smallest size has 512, 1024 and 2048.
    (cpu === 256 ? memoryMiB !== 1_536 : true) &&
    memoryMiB % step === 0;
  return fits
    ? undefined
    : `No Fargate configuration exists for ${cpu} CPU units with ${memoryMiB} MiB of memory.`;
}
