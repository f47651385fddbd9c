export interface InstanceResources {
  /** Units of 1/1024 vCPU. */
  cpu: number;
  memoryMiB: number;
  gpus: number;
}

const sizes: Record<string, [vcpus: number, memoryGiB: number, gpus: number]> = {
  "c7i.xlarge": [4, 8, 0],
  "c7i.4xlarge": [16, 32, 0],
  "m7i.large": [2, 8, 0],
  "m7i.xlarge": [4, 16, 0],
  "m7i.4xlarge": [16, 64, 0],
  "g4dn.xlarge": [4, 16, 1],
  "g5.xlarge": [4, 16, 1],
  "g5.2xlarge": [8, 32, 1],
  "g5.12xlarge": [48, 192, 4],
  "g6.xlarge": [4, 16, 1],
  "g6.2xlarge": [8, 32, 1],
  "g6.12xlarge": [48, 192, 4],
  "g6e.xlarge": [4, 32, 1],
  "g6e.2xlarge": [8, 64, 1],
  "g6e.12xlarge": [48, 384, 4],
  "g6e.48xlarge": [192, 1536, 8],
  "p4d.24xlarge": [96, 1152, 8],
  "p5.4xlarge": [16, 256, 1],
  "p5.48xlarge": [192, 2048, 8],
};

/** An instance offers less memory than it is sold with: a task that asks for all of it never fits, as on the real one. */
const memoryLeft = 0.95;

export function resourcesOf(instanceType: string): InstanceResources {
  const [vcpus, memoryGiB, gpus] = sizes[instanceType] ?? [];
  if (vcpus === undefined || memoryGiB === undefined || gpus === undefined) {
    throw new Error(`the fake AWS does not know ${instanceType}: add it to instance-types.ts`);
  }
  return { cpu: vcpus * 1024, memoryMiB: Math.floor(memoryGiB * 1024 * memoryLeft), gpus };
}
