import * as z from "zod/mini";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { gpuClass, type Hardware } from "../../sdk/schema/hardware.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import shipped from "./prices.json" with { type: "json" };

const usd = z.number().check(z.gte(0));
const count = z.number().check(z.int(), z.gt(0));

const instance = z.strictObject({
  gpu: gpuClass,
  gpus: count,
  /** Of one GPU. */
  gpuMemoryGiB: z.number().check(z.gt(0)),
  vCpus: count,
  memoryGiB: z.number().check(z.gt(0)),
});

const perSize = z.strictObject({ vCpuHourUsd: usd, gibHourUsd: usd });

const region = z.strictObject({
  /** An hour of each instance type. One that is missing costs what it does in the default region. */
  onDemandUsd: z.record(z.string(), usd),
  /** Typical price; it moves with demand. One that is missing counts as on demand. */
  spotUsd: z.record(z.string(), usd),
  fargate: perSize,
  fargateSpot: perSize,
  gp3GibMonthUsd: usd,
});

/** A dated price list: what functions/cost/prices.json holds, and a file that takes its place. */
export const priceList = z
  .strictObject({
    date: z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/, "must be a date such as 2025-07-01")),
    source: z.string().check(z.minLength(1)),
    /** Its prices hold wherever another region has none of its own. */
    region: z.string(),
    instances: z.record(z.string(), instance),
    regions: z.record(z.string(), region),
  })
  .check(
    z.refine((list) => list.region in list.regions, {
      path: ["region"],
      message: "has no entry in regions",
    }),
    z.refine(({ instances, regions, ...list }) => {
      const priced = regions[list.region]?.onDemandUsd ?? {};
      return Object.keys(instances).every((name) => priced[name] !== undefined);
    }, "every instance needs an onDemandUsd price in the default region"),
  );
export type PriceList = z.infer<typeof priceList>;

/** An instance type that has the GPUs that were asked for. */
export type Instance = z.infer<typeof instance> & { name: string };

/** Checks a price list; `where` names the file. */
export function parsePrices(value: unknown, where = "prices.json"): PriceList {
  return parseWith(priceList, value, where);
}

export const SHIPPED_PRICES: PriceList = parsePrices(shipped);

/** Disk of a GPU instance: the image of an engine, a model, and room for checkpoints. */
const DISK_GIB = 200;
const HOURS_PER_MONTH = 730;

/** What a container without a GPU gets. */
export const CPU_SHAPE = { vCpus: 4, memoryGiB: 16 };
export type CpuShape = typeof CPU_SHAPE;

/**
 * The cheapest instance with at least these GPUs; undefined where no GPU is asked for.
 *
 * @throws SpotterError `invalid_input` where none has so many.
 */
export function instanceFor(
  hardware: Hardware,
  list: PriceList = SHIPPED_PRICES,
  regionName = list.region,
): Instance | undefined {
  const { gpu, count: wanted } = hardware;
  if (gpu === undefined) return undefined;
  const ofClass = Object.entries(list.instances).filter(([, each]) => each.gpu === gpu);
  const [best] = ofClass
    .filter(([, each]) => each.gpus >= wanted)
    .map(([name, each]) => ({ name, ...each, usd: instanceUsd(list, regionName, name, false) }))
    .sort((a, b) => a.usd - b.usd);
  if (best === undefined) {
    const most = Math.max(0, ...ofClass.map(([, each]) => each.gpus));
    throw new SpotterError("invalid_input", `No instance has ${wanted} × ${gpu}.`, {
      where: most === 0 ? "hardware.gpu" : "hardware.count",
      hint:
        most === 0
          ? `The price list of ${list.date} has no ${gpu}; add its instances to a list of your own.`
          : `The largest has ${most}.`,
    });
  }
  const { usd: _usd, ...found } = best;
  return found;
}

/** What an hour on this hardware costs, disk included. */
export function hourlyUsd(
  hardware: Hardware,
  list: PriceList = SHIPPED_PRICES,
  regionName = list.region,
  cpu: CpuShape = CPU_SHAPE,
): number {
  const found = instanceFor(hardware, list, regionName);
  const prices = regionOf(list, regionName);
  if (found !== undefined) {
    const disk = (DISK_GIB * prices.gp3GibMonthUsd) / HOURS_PER_MONTH;
    return round(instanceUsd(list, regionName, found.name, hardware.spot) + disk);
  }
  const { vCpuHourUsd, gibHourUsd } = hardware.spot ? prices.fargateSpot : prices.fargate;
  return round(cpu.vCpus * vCpuHourUsd + cpu.memoryGiB * gibHourUsd);
}

function instanceUsd(list: PriceList, regionName: string, name: string, spot: boolean): number {
  for (const each of [list.regions[regionName], list.regions[list.region]]) {
    const found = (spot ? each?.spotUsd[name] : undefined) ?? each?.onDemandUsd[name];
    if (found !== undefined) return found;
  }
  throw new SpotterError("internal", `The price list has no price for ${name}.`);
}

function regionOf(list: PriceList, name: string): z.infer<typeof region> {
  const found = list.regions[name] ?? list.regions[list.region];
  if (found === undefined) throw new SpotterError("internal", `The price list has no region ${name}.`);
  return found;
}

/** Prices have four digits behind the point. */
function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
