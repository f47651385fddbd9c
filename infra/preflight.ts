/**
 * What a stack of some settings comes to, before Pulumi does anything: `node infra/preflight.ts` reads them from its
 * standard input and prints one JSON object, `{ plan }`, or `{ findings }` with all that is wrong with the settings.
 * `spotter doctor` and `spotter deploy` check the account against the plan.
 *
 * @example
 * echo '{ "spotter:gateway": "lambda" }' | node infra/preflight.ts
 * @module
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { functionsFor } from "./components/functions-table.ts";
import { stackConfig, type GpuClass } from "./config.ts";
import { idleCosts, type IdleCost } from "./config/costs.ts";
import { checkSettings, type Finding } from "./config/findings.ts";

export interface Plan {
  removal: "retain" | "destroy";
  gateway: "fargate" | "lambda";
  /**
   * Classes with instances of their own, at most so many on demand, and as many as spot; nodes of one training are a
   * class that starts all at once.
   */
  gpuClasses: (Pick<GpuClass, "name" | "instanceTypes" | "vCpus" | "maxInstances" | "spot"> & {
    atOnce: number;
  })[];
  /** Images of the engines that it has for GPUs, by their names. */
  engineImages: Readonly<Record<string, string>>;
  maxCpuTasks: number;
  /** Calls at a time that are taken from what the account may have, for single functions. */
  reservedCalls: number;
  idleCosts: IdleCost[];
}

const NAMESPACE = "spotter:";
/** A class has instances for replicas and as many for runs, on demand and again as spot. */
const PLACES = 2;

/** @param texts Settings as Pulumi keeps them, such as `spotter:gateway`; those of others are left alone. */
export function planOf(texts: Readonly<Record<string, string>>): { plan: Plan } | { findings: Finding[] } {
  const own = Object.entries(texts).filter(([key]) => key.startsWith(NAMESPACE));
  const named = own.map(([key, text]): [string, string] => [key.slice(NAMESPACE.length), text]);
  const { settings, findings } = checkSettings(Object.fromEntries(named));
  if (settings === undefined) return { findings };
  const config = stackConfig(settings);
  const { removal, gateway, engineImages, maxCpuTasks, maxFunctionConcurrency = 0, multiNode } = config;
  const reservedCalls = maxFunctionConcurrency * functionsFor(gateway).length;
  const pools = config.gpuClasses.map((each) =>
    pooled({ ...each, maxInstances: PLACES * each.maxInstances }, 1),
  );
  const nodes = multiNode === null ? [] : [pooled(multiNode.gpuClass, multiNode.maxNodes)];
  return {
    plan: {
      ...{ removal, gateway, gpuClasses: [...pools, ...nodes], engineImages, maxCpuTasks, reservedCalls },
      idleCosts: idleCosts(config),
    },
  };
}

function pooled({ name, instanceTypes, vCpus, maxInstances, spot }: GpuClass, atOnce: number) {
  const shown = atOnce > 1 ? `${atOnce} nodes of ${name}` : name;
  return { name: shown, instanceTypes, vCpus, maxInstances, spot, atOnce };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const texts = JSON.parse(readFileSync(0, "utf8")) as Record<string, string>;
  process.stdout.write(`${JSON.stringify(planOf(texts))}\n`);
}
