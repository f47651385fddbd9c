import type { StackConfig } from "../config.ts";
import type { SettingName } from "./settings.ts";

/** One thing that costs while nothing runs. */
export interface IdleCost {
  what: string;
  /** The setting that decides it; null: it is there in every stack. */
  setting: SettingName | null;
  monthlyUsd: number;
}

/** List prices of us-east-1, July 2025; other regions differ by a tenth or two. */
const HOUR_USD = {
  armVCpu: 0.03238,
  armGib: 0.00356,
  loadBalancer: 0.0225,
  publicAddress: 0.005,
  natGateway: 0.045,
};
const HOURS_PER_MONTH = 730;
/** Estimates: a call each minute that finds nothing to do, and what of the alarms is beyond the ten that are free. */
const RECONCILER_USD = 0.4;
const SCALER_USD = 2;
const ALARMS_USD = 0.6;

/** The gateway container: enough for two thousand streams. */
export const GATEWAY_TASK = { vCpus: 0.5, memoryMiB: 1024 } as const;

/**
 * What a stack costs a month while nobody uses it. Storage, requests and logs are paid by use: a new stack has next
 * to none of them.
 *
 * @example
 * totalUsd(idleCosts(config)) // 42.8
 */
export function idleCosts({ gateway, availabilityZones, multiNode }: IdleConfig): IdleCost[] {
  const costs: IdleCost[] = [
    { what: "reconciler, each minute", setting: null, monthlyUsd: RECONCILER_USD },
    { what: "alarms", setting: null, monthlyUsd: ALARMS_USD },
  ];
  const perMonth = (hourUsd: number) => Math.round(hourUsd * HOURS_PER_MONTH * 100) / 100;
  const add = (what: string, setting: SettingName, hourUsd: number) =>
    costs.push({ what, setting, monthlyUsd: perMonth(hourUsd) });
  if (gateway === "lambda") costs.push({ what: "scaler", setting: "gateway", monthlyUsd: SCALER_USD });
  else {
    const { vCpus, memoryMiB } = GATEWAY_TASK;
    const task = vCpus * HOUR_USD.armVCpu + (memoryMiB / 1024) * HOUR_USD.armGib;
    add("gateway container and its address", "gateway", task + HOUR_USD.publicAddress);
    add("load balancer", "gateway", HOUR_USD.loadBalancer);
    add(
      `addresses of the load balancer in ${availabilityZones} zones`,
      "availabilityZones",
      availabilityZones * HOUR_USD.publicAddress,
    );
  }
  if (multiNode !== null)
    add("NAT gateway and its address", "multiNode", HOUR_USD.natGateway + HOUR_USD.publicAddress);
  return costs;
}

type IdleConfig = Pick<StackConfig, "gateway" | "availabilityZones" | "multiNode">;

export function totalUsd(costs: readonly Pick<IdleCost, "monthlyUsd">[]): number {
  return Math.round(costs.reduce((sum, { monthlyUsd }) => sum + monthlyUsd, 0) * 100) / 100;
}
