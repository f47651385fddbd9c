/** An instance type that a GPU class may run on. */
export interface GpuInstance {
  type: string;
  gpu: string;
  gpus: number;
  vCpus: number;
  memoryGiB: number;
  /** Cards of the Elastic Fabric Adapter that nodes of one training talk over; 0 for none. */
  fabricCards: number;
}

/**
 * Instance types by GPU, smallest first. These are the ones that have a price in functions/cost/prices.json: on
 * another type an estimate and a cost limit would count with the wrong price. A test compares the two.
 */
export const GPU_INSTANCES: readonly GpuInstance[] = [
  row("g4dn.xlarge", "T4", 1, 4, 16),
  row("g4dn.12xlarge", "T4", 4, 48, 192, 1),
  row("g4dn.metal", "T4", 8, 96, 384, 1),
  row("g5.xlarge", "A10G", 1, 4, 16),
  row("g5.12xlarge", "A10G", 4, 48, 192, 1),
  row("g5.48xlarge", "A10G", 8, 192, 768, 1),
  row("g6.xlarge", "L4", 1, 4, 16),
  row("g6.12xlarge", "L4", 4, 48, 192, 1),
  row("g6.48xlarge", "L4", 8, 192, 768, 1),
  row("g6e.xlarge", "L40S", 1, 4, 32),
  row("g6e.12xlarge", "L40S", 4, 48, 384, 1),
  row("g6e.48xlarge", "L40S", 8, 192, 1536, 1),
  row("p4d.24xlarge", "A100-40GB", 8, 96, 1152, 4),
  row("p4de.24xlarge", "A100-80GB", 8, 96, 1152, 4),
  row("p5.4xlarge", "H100", 1, 16, 256),
  row("p5.48xlarge", "H100", 8, 192, 2048, 32),
  row("p5en.48xlarge", "H200", 8, 192, 2048, 16),
  row("p6-b200.48xlarge", "B200", 8, 192, 2048, 8),
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
  fabricCards = 0,
): GpuInstance {
  return { type, gpu, gpus, vCpus, memoryGiB, fabricCards };
}
