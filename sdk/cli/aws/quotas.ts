import { unknown, type Answer, type Check } from "./checks.ts";
import type { StackPlan } from "./plan.ts";

/** A quota of things that run, and what it needs of it. */
export interface QuotaNeed {
  service: "ec2" | "fargate" | "lambda";
  /** As Service Quotas knows it; undefined: no code is known for it. */
  code: string | undefined;
  name: string;
  /** What it counts. */
  unit: "vCPUs" | "calls";
  /** What draws on it. */
  users: QuotaUser[];
}

export interface QuotaUser {
  name: string;
  /** Without so much it cannot start once. */
  least: number;
  /** With all that the settings allow. */
  most: number;
  /** Without `least` the update itself fails. */
  stopsUpdate?: true;
}

interface Family {
  onDemand: string;
  onDemandName: string;
  spot: string | undefined;
  spotName: string;
}

const G: Family = {
  onDemand: "L-DB2E81BA",
  onDemandName: "Running On-Demand G and VT instances",
  spot: "L-3819A6DF",
  spotName: "All G and VT Spot Instance Requests",
};
const P: Omit<Family, "spot" | "spotName"> = {
  onDemand: "L-417A185B",
  onDemandName: "Running On-Demand P instances",
};
/** Spot requests of P instances are counted by generation. */
const FAMILIES: readonly [RegExp, Family][] = [
  [/^g\d/, G],
  [/^p[234]/, { ...P, spot: "L-7212CCBC", spotName: "All P4, P3 and P2 Spot Instance Requests" }],
  [/^p5/, { ...P, spot: "L-C4BD4855", spotName: "All P5 Spot Instance Requests" }],
  [/^p/, { ...P, spot: undefined, spotName: "Spot requests of newer P instances" }],
];
const OF_EC2 = { service: "ec2", unit: "vCPUs" } as const;
const FARGATE = {
  service: "fargate",
  code: "L-3032A538",
  name: "Fargate On-Demand vCPU resource count",
  unit: "vCPUs",
} as const;
/** Of all functions of the account together, user code included; some accounts begin with ten. */
const LAMBDA = {
  service: "lambda",
  code: "L-B99A9384",
  name: "Concurrent executions of Lambda",
  unit: "calls",
} as const;
/** Enough for some people and their runs; a page that is open holds one call or two. */
const FEW_CALLS = 10;
const ENOUGH_CALLS = 100;
/** What Lambda wants to have left, whatever is set aside for single functions. */
const UNRESERVED_CALLS = 100;
/** An account begins with so many; internet gateways have the same limit. */
export const NETWORKS = { code: "L-F678F1CE", usual: 5 } as const;
/** Processors of a run or an eval without a GPU. */
const CPU_TASK_VCPUS = 4;

/** The quotas that a stack of these settings meets: one entry for each, with all that draws on it. */
export function quotaNeeds({ gpuClasses, maxCpuTasks, gateway, reservedCalls = 0 }: StackPlan): QuotaNeed[] {
  const needs = new Map<string, QuotaNeed>();
  const add = (need: Omit<QuotaNeed, "users">, user: QuotaUser) => {
    const key = `${need.service} ${need.name}`;
    const known = needs.get(key) ?? { ...need, users: [] };
    known.users.push(user);
    needs.set(key, known);
  };
  for (const { name, instanceTypes, vCpus, maxInstances, atOnce, spot } of gpuClasses) {
    const family = FAMILIES.find(([pattern]) => pattern.test(instanceTypes[0] ?? ""))?.[1];
    if (family === undefined) continue;
    const user = { name, least: vCpus * atOnce, most: vCpus * maxInstances };
    add({ ...OF_EC2, code: family.onDemand, name: family.onDemandName }, user);
    if (spot) add({ ...OF_EC2, code: family.spot, name: family.spotName }, user);
  }
  add(FARGATE, {
    name: "runs and evals without a GPU",
    least: CPU_TASK_VCPUS,
    most: CPU_TASK_VCPUS * maxCpuTasks,
  });
  if (gateway === "fargate") add(FARGATE, { name: "the gateway", least: 1, most: 1 });
  add(LAMBDA, { name: "the control plane and user code", least: FEW_CALLS, most: ENOUGH_CALLS });
  if (reservedCalls > 0) {
    const calls = reservedCalls + UNRESERVED_CALLS;
    const name = "what maxFunctionConcurrency sets aside, with the 100 that Lambda wants left,";
    add(LAMBDA, { name, least: calls, most: calls, stopsUpdate: true });
  }
  return [...needs.values()];
}

/**
 * Whether there is room for the network of a new stack: without it an update fails in its first minute.
 *
 * @param quota Undefined: the account says nothing of it, and has what accounts begin with.
 */
export function networkCheck(
  region: string,
  quota: Answer<number | undefined>,
  networks: Answer<{ count: number; hasOwn: boolean }>,
): Check {
  const check = "quota";
  if ("error" in networks) return unknown(check, `how many VPCs ${region} has`, networks.error);
  const { count, hasOwn } = networks.value;
  if (hasOwn) return { check, status: "ok", message: `The stack has its VPC; ${region} has ${count}.` };
  if ("error" in quota) return unknown(check, `how many VPCs ${region} may have`, quota.error);
  const most = quota.value ?? NETWORKS.usual;
  if (count < most)
    return { check, status: "ok", message: `${region} has ${count} of ${most} VPCs; a stack makes one.` };
  const need = { service: "vpc", code: NETWORKS.code } as const;
  return {
    check,
    status: "failed",
    message: `${region} has ${count} VPCs, and may have ${most} (${NETWORKS.code}): a stack makes one more.`,
    remedy: `Delete one, or take another region; or ask for more: ${increase(need, region, count + 1)}`,
    stopsUpdate: true,
  };
}

/** @param quota In the unit of the need; undefined: the account has no such quota. */
export function quotaCheck(need: QuotaNeed, region: string, quota: Answer<number | undefined>): Check {
  const check = "quota";
  const title = need.code === undefined ? need.name : `${need.name} (${need.code})`;
  if ("error" in quota) return unknown(check, `what the quota ${title} is`, quota.error);
  const most = need.users.reduce((sum, each) => sum + each.most, 0);
  if (need.code === undefined || quota.value === undefined)
    return {
      check,
      status: "warning",
      message: `Service Quotas of ${region} tells nothing of ${title}; ${mostText(need.users, most)}`,
      remedy: `Look it up: https://${region}.console.aws.amazon.com/servicequotas/home/services/${need.service}/quotas`,
    };
  const has = quota.value;
  const short = need.users.filter(({ least }) => least > has);
  if (short.length > 0) {
    const each = short.map(({ name, least }) => `${name} needs ${least} to start once`).join(", ");
    return {
      check,
      status: "failed",
      message: `${title} is ${has} ${need.unit}: ${each}; ${mostText(need.users, most)}`,
      remedy: increase(need, region, most),
      ...(short.some(({ stopsUpdate }) => stopsUpdate) && { stopsUpdate: true }),
    };
  }
  if (most > has)
    return {
      check,
      status: "warning",
      message: `${title} is ${has} ${need.unit}; ${mostText(need.users, most)} What does not fit waits.`,
      remedy: increase(need, region, most),
    };
  return { check, status: "ok", message: `${title} is ${has} ${need.unit}; ${most} are needed at most.` };
}

function mostText(users: readonly QuotaUser[], most: number): string {
  return `all that the settings allow is ${most} (${users.map(({ name, most: own }) => `${name}: ${own}`).join(", ")}).`;
}

function increase(
  { service, code }: { service: string; code: string | undefined },
  region: string,
  most: number,
): string {
  return (
    `aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} ` +
    `--desired-value ${most} --region ${region}`
  );
}
