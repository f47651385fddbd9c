import type { InstanceResources } from "./instance-types.ts";

export const fits = (needs: InstanceResources, free: InstanceResources): boolean =>
  needs.cpu <= free.cpu && needs.memoryMiB <= free.memoryMiB && needs.gpus <= free.gpus;

export function freeOf({
  resources,
  leases,
}: {
  resources: InstanceResources;
  leases: Iterable<{ needs: InstanceResources }>;
}): InstanceResources {
  return [...leases].reduce((free, { needs }) => minus(free, needs), resources);
}

const minus = (a: InstanceResources, b: InstanceResources): InstanceResources => ({
  cpu: a.cpu - b.cpu,
  memoryMiB: a.memoryMiB - b.memoryMiB,
  gpus: a.gpus - b.gpus,
});

/** How many empty instances hold all of these, first fit. */
export function instancesFor(needs: InstanceResources[], size: InstanceResources): number {
  const bins: InstanceResources[] = [];
  for (const each of needs) {
    const index = bins.findIndex((free) => fits(each, free));
    if (index >= 0) bins[index] = minus(bins[index] ?? size, each);
    else bins.push(minus(size, each));
  }
  return bins.length;
}
