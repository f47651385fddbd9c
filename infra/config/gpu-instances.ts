/** An instance type that a GPU class may run on. */
export interface GpuInstance {
  type: string;
  gpu: string;
  gpus: number;
  vCpus: number;
  memoryGiB: number;
  /** Has an Elastic Fabric Adapter, which nodes of one training talk over. */
  efa: boolean;
}

/**
 * Instance types by GPU, smallest first. These are the ones that have a price in functions/cost/prices.json: on
 * another type an estimate and a cost limit would count with the wrong price. A test compares the two.
 */
export const GPU_INSTANCES: readonly GpuInstance[] = [
  row("g4dn.xlarge", "T4", 1, 4, 16),
  row("g4dn.12xlarge", "T4", 4, 48, 192, "efa"),
  row("g4dn.metal", "T4", 8, 96, 384, "efa"),
  row("g5.xlarge", "A10G", 1, 4, 16),
  row("g5.12xlarge", "A10G", 4, 48, 192, "efa"),
  row("g5.48xlarge", "A10G", 8, 192, 768, "efa"),
  row("g6.xlarge", "L4", 1, 4, 16),
  row("g6.12xlarge", "L4", 4, 48, 192, "efa"),
  row("g6.48xlarge", "L4", 8, 192, 768, "efa"),
  row("g6e.xlarge", "L40S", 1, 4, 32),
  row("g6e.12xlarge", "L40S", 4, 48, 384, "efa"),
  row("g6e.48xlarge", "L40S", 8, 192, 1536, "efa"),
  row("p4d.24xlarge", "A100-40GB", 8, 96, 1152, "efa"),
  row("p4de.24xlarge", "A100-80GB", 8, 96, 1152, "efa"),
  row("p5.4xlarge", "H100", 1, 16, 256),
  row("p5.48xlarge", "H100", 8, 192, 2048, "efa"),
  row("p5en.48xlarge", "H200", 8, 192, 2048, "efa"),
  row("p6-b200.48xlarge", "B200", 8, 192, 2048, "efa"),
];

/** The names of all classes: `L4:1` is one L4 on an instance, `L4:4` up to four. */
export const GPU_CLASS_NAMES: readonly string[] = GPU_INSTANCES.map(({ gpu, gpus }) => `${gpu}:${gpus}`);

/** Instance types of a class; none where there is no such class. */
export function instancesOf(name: string): GpuInstance[] {
  return GPU_INSTANCES.filter(({ gpu, gpus }) => `${gpu}:${gpus}` === name);
}

function row(
  type: string,
  gpu: string,
  gpus: number,
  vCpus: number,
  memoryGiB: number,
  efa?: "efa",
): GpuInstance {
  return { type, gpu, gpus, vCpus, memoryGiB, efa: efa !== undefined };
}
