import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { checkSettings, type Finding } from "./config/findings.ts";
import { instancesOf } from "./config/gpu-instances.ts";
import { isGpuEngine, type GpuEngine } from "./config/images.ts";
import { splitClass, type Settings } from "./config/settings.ts";

/** GPUs of one kind and number that containers may ask for. */
export interface GpuClass {
  /** `L4:1`: the GPU, and how many an instance has. */
  name: string;
  gpu: string;
  gpus: number;
  instanceTypes: string[];
  /** Of one instance; the least of its types. */
  vCpus: number;
  memoryGiB: number;
  maxInstances: number;
  /** Whether spot instances may be asked for as well. */
  spot: boolean;
}

/** What infra/config/settings.ts says of a stack, made ready for its parts. Costs are told there. */
export interface StackConfig {
  /** Of the package that is deployed. */
  version: string;
  /** Days that logs are kept; one of the values CloudWatch knows. */
  logRetentionDays: number;
  /** `retain`: the bucket and the table refuse to be destroyed. */
  removal: "retain" | "destroy";
  gateway: "fargate" | "lambda";
  /** Null: CloudFront's own name. */
  domain: { name: string; zoneId: string } | null;
  gpuClasses: GpuClass[];
  /** Images by digest of the engines that the stack offers besides the embedded one. */
  engineImages: Partial<Record<GpuEngine, string>>;
  /** Whether spot instances, and Fargate's spot, may be asked for. */
  spot: boolean;
  /** Most runs and evals without a GPU at a time. */
  maxCpuTasks: number;
  /** Zones with a subnet. */
  availabilityZones: number;
  /** Absent: as many calls at a time as the account may have. */
  maxFunctionConcurrency?: number;
  budget: { monthlyUsd: number; email: string | null };
  /** Trainings over several instances; null: none, and no NAT gateway. */
  multiNode: { gpuClass: GpuClass; maxNodes: number; fabricCards: number } | null;
  /** When a GPU instance ends itself. */
  host: { idleMinutes: number; maxHours: number };
  /** On every resource that can have tags. */
  tags: Record<string, string>;
}

/**
 * The `spotter:` settings of the stack, checked.
 *
 * @throws RunError `invalid_input`: names each setting that is wrong, why, and the command that mends it.
 */
export function readConfig(): StackConfig {
  const { settings, findings } = checkSettings(ownSettings());
  if (settings === undefined) throw new pulumi.RunError(report(findings));
  const tags = { "spotter:stack": stackName(), "spotter:project": pulumi.getProject() };
  return { version: packageVersion(), ...stackConfig(settings), tags };
}

/** Part of the names of functions, which take 64 letters, digits, dashes and underscores. */
function stackName(): string {
  const name = pulumi.getStack();
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(name)) return name;
  throw new pulumi.RunError(
    `invalid_input: ${JSON.stringify(name)} cannot be the name of this stack: names of functions are made of it. ` +
      "Use up to 40 letters, digits, dashes and underscores, for example `pulumi stack rename dev`.",
  );
}

/** Settings, made ready for the parts of a stack. */
export function stackConfig(settings: Settings): Omit<StackConfig, "version" | "tags"> {
  const { logRetentionDays, removal, gateway, domain, hostedZoneId, availabilityZones, maxCpuTasks } =
    settings;
  const { maxFunctionConcurrency, monthlyBudgetUsd, budgetEmail } = settings;
  return {
    logRetentionDays,
    removal,
    gateway,
    domain: domain === "" ? null : { name: domain, zoneId: hostedZoneId },
    gpuClasses: settings.gpuClasses.map((text) => gpuClass(text, settings)),
    engineImages: engineImages(settings.engineImages),
    spot: settings.spot,
    maxCpuTasks,
    availabilityZones,
    ...(maxFunctionConcurrency > 0 && { maxFunctionConcurrency }),
    budget: { monthlyUsd: monthlyBudgetUsd, email: budgetEmail || null },
    multiNode: multiNode(settings),
    host: { idleMinutes: settings.idleMinutes, maxHours: settings.maxInstanceHours },
  };
}

function gpuClass(text: string, { maxInstances, spot }: Settings): GpuClass {
  const { name, most } = splitClass(text);
  const instances = instancesOf(name);
  return {
    name,
    gpu: name.split(":")[0] ?? name,
    gpus: Math.min(...instances.map(({ gpus }) => gpus)),
    instanceTypes: instances.map(({ type }) => type),
    vCpus: Math.min(...instances.map(({ vCpus }) => vCpus)),
    memoryGiB: Math.min(...instances.map(({ memoryGiB }) => memoryGiB)),
    maxInstances: most === undefined ? maxInstances : Number(most),
    spot,
  };
}

function engineImages(texts: string[]): StackConfig["engineImages"] {
  const images: StackConfig["engineImages"] = {};
  for (const { name, most: image } of texts.map(splitClass))
    if (isGpuEngine(name) && image !== undefined) images[name] = image;
  return images;
}

function multiNode(settings: Settings): StackConfig["multiNode"] {
  if (settings.multiNode === "") return null;
  const found = gpuClass(settings.multiNode, settings);
  const fabricCards = Math.min(...instancesOf(found.name).map((each) => each.fabricCards));
  // Batch starts no nodes of one job on spot instances.
  return { gpuClass: { ...found, spot: false }, maxNodes: found.maxInstances, fabricCards };
}

function report(findings: readonly Finding[]): string {
  const lines = findings.map(({ path, message, remedy }) => `  spotter:${path} ${message}.\n    ${remedy}`);
  const wrong =
    findings.length === 1
      ? "A setting of this stack is wrong"
      : `${findings.length} settings of this stack are wrong`;
  return [`invalid_input: ${wrong}:`, ...lines].join("\n");
}

const NAMESPACE = "spotter:";

function ownSettings(): Record<string, string> {
  const all = Object.entries(pulumi.runtime.allConfig());
  const own = all.filter(([key]) => key.startsWith(NAMESPACE));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(NAMESPACE.length), String(value)]));
}

function packageVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
