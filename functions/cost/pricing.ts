import type { Price } from "../../sdk/schema/cost.ts";
import { hardware as hardwareSchema, type Hardware } from "../../sdk/schema/hardware.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { ForeignEngine } from "../ports/containers.ts";
import {
  CPU_SHAPE,
  hourlyUsd,
  instanceFor,
  SHIPPED_PRICES,
  type CpuShape,
  type PriceList,
} from "./prices.ts";

/** What a home's containers run on and cost. */
export interface Pricing {
  /** Whether `hardware` of a run or an endpoint is followed here. */
  choosesHardware: boolean;
  /** @throws SpotterError `invalid_input` where nothing has this hardware. */
  priceOf(hardware: Hardware | undefined): Price;
  /** What a container may use. Absent, or undefined: not known. */
  memoryMiB?(hardware: Hardware | undefined): number | undefined;
}

export interface CloudPricingParams {
  /** Default: the list that is shipped. */
  list?: PriceList;
  /** Default: the region of the list. */
  region?: string;
  /** What a container without a GPU gets. */
  cpu?: CpuShape;
}

const ANY: Hardware = hardwareSchema.parse({});

/** Instances by GPU, and Fargate for what needs none. */
export function cloudPricing(params: CloudPricingParams = {}): Pricing {
  const { list = SHIPPED_PRICES, cpu = CPU_SHAPE } = params;
  const { region = list.region } = params;
  return {
    choosesHardware: true,
    priceOf(hardware = ANY) {
      const instance = instanceFor(hardware, list, region);
      const { nodes = 1 } = hardware;
      return {
        instance: instance?.name ?? "fargate",
        hourlyUsd: nodes * hourlyUsd(hardware, list, region, cpu),
        gpus: nodes * (instance?.gpus ?? 0),
        spot: hardware.spot,
      };
    },
    memoryMiB: (hardware = ANY) => (instanceFor(hardware, list, region)?.memoryGiB ?? cpu.memoryGiB) * 1_024,
  };
}

/**
 * One machine: it is there anyway, and an hour of a container costs what its owner says, nothing by default.
 *
 * @param memoryMiB Of the machine, or of what its control group leaves. Default: not known.
 */
export function ownMachine(hourlyUsdOfContainer = 0, memoryMiB?: number): Pricing {
  const price: Price = { instance: "this machine", hourlyUsd: hourlyUsdOfContainer, gpus: 0, spot: false };
  return { choosesHardware: false, priceOf: () => price, memoryMiB: () => memoryMiB };
}

const OWN_MACHINE = ownMachine();

/** How this home prices; one that does not say is one machine. */
export function pricingOf({ config }: { config: { pricing?: Pricing } }): Pricing {
  return config.pricing ?? OWN_MACHINE;
}

interface Placed {
  hardware?: Hardware | undefined;
  engine: "onnx" | ForeignEngine;
}

/** Said once, where hardware was asked for that is not chosen here. */
export function ignoredHardware(pricing: Pricing, { hardware, engine }: Placed): string[] {
  if (pricing.choosesHardware || hardware === undefined) return [];
  // Their parallelism follows from it, wherever they run.
  if (engine !== "onnx")
    return [
      `${engine} is started for ${hardware.count === 1 ? "1 GPU" : `${hardware.count} GPUs`}, of whichever kind this machine has.`,
    ];
  return [`Hardware (${hardwareText(hardware)}) is ignored: this machine runs on what it has.`];
}

/** What one should know about the hardware that a run asks for. */
export function hardwareNotes(pricing: Pricing, { hardware, engine }: Pick<RunSpec, "hardware" | "engine">) {
  const ignored = ignoredHardware(pricing, { hardware, engine });
  if (ignored.length > 0 || hardware?.gpu === undefined || engine !== "onnx") return ignored;
  return [
    `The engine ${engine} uses processors only: ${hardwareText(hardware)} would stand idle and be paid for.`,
  ];
}

export function hardwareText({ gpu, count, nodes = 1, spot }: Hardware): string {
  const gpus = gpu === undefined ? "no GPU" : `${count} × ${gpu}`;
  return [...(nodes > 1 ? [`${nodes} nodes of ${gpus}`] : [gpus]), ...(spot ? ["spot"] : [])].join(", ");
}
