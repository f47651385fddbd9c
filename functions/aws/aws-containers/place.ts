import type { Hardware } from "../../../sdk/schema/hardware.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { ContainerSpec, ForeignEngine } from "../../ports/containers.ts";
import { spotOf, targetOf, type AwsContainersParams, type ServeTarget } from "./params.ts";

/** What decides where a container is started, and from what. */
export type Wanted = Pick<ContainerSpec, "engine" | "hardware">;

export interface ServePlace {
  taskDefinition: string;
  capacityProvider: string;
  network: ServeTarget["network"];
}

/**
 * Where a replica is started.
 *
 * @throws SpotterError `engine_missing`, `invalid_input` where this stack has nothing of the kind.
 */
export function servePlace(params: AwsContainersParams, { engine, hardware }: Wanted): ServePlace {
  if ((hardware?.nodes ?? 1) > 1)
    throw new SpotterError("invalid_input", "A replica is on one instance.", {
      where: "hardware.nodes",
      hint: "Leave it out; more replicas are `scaling`.",
    });
  const { target, hardwareClass } = targetOf(params.serve, hardware);
  const isSpot = hardware?.spot === true;
  return {
    taskDefinition:
      engine === undefined
        ? target.taskDefinition
        : definitionOf(engine, params.engines?.[engine]?.serve, hardwareClass),
    capacityProvider: isSpot ? spotOf(target.spotCapacityProvider, hardwareClass) : target.capacityProvider,
    network: target.network,
  };
}

export interface WorkPlace {
  jobDefinition: string;
  jobQueue: string;
  /** Instances of the one job; the definition is of the type `multinode` then. */
  nodes?: number;
}

/** Where a run, an eval or a conversion is started; throws as {@link servePlace} does. */
export function workPlace(params: AwsContainersParams, { engine, hardware }: Wanted): WorkPlace {
  if (hardware?.nodes !== undefined && hardware.nodes > 1)
    return nodesPlace(params, engine, { ...hardware, nodes: hardware.nodes });
  const { target, hardwareClass } = targetOf(params.work, hardware);
  return {
    jobDefinition:
      engine === undefined
        ? target.jobDefinition
        : definitionOf(engine, params.engines?.[engine]?.work, hardwareClass),
    jobQueue: hardware?.spot === true ? spotOf(target.spotJobQueue, hardwareClass) : target.jobQueue,
  };
}

/** Every queue that something of this stack may wait in. */
export function queuesOf({ work, engines = {} }: AwsContainersParams): string[] {
  const ofClasses = Object.values(work).flatMap(({ jobQueue, spotJobQueue }) => [
    jobQueue,
    spotJobQueue ?? jobQueue,
  ]);
  const ofNodes = Object.values(engines).flatMap(({ nodes }) => nodes?.jobQueue ?? []);
  return [...new Set([...ofClasses, ...ofNodes])];
}

function nodesPlace(
  { engines }: AwsContainersParams,
  engine: ForeignEngine | undefined,
  hardware: Hardware & { nodes: number },
): WorkPlace {
  const target = engine === undefined ? undefined : engines?.[engine]?.nodes;
  const refused = (message: string, where: string, hint: string) =>
    new SpotterError("invalid_input", message, { where, hint });
  if (engine === undefined)
    throw refused(
      "The embedded engine trains on one instance.",
      "hardware.nodes",
      "Leave it out, or train with slime.",
    );
  if (target === undefined)
    throw refused(
      `This stack runs nothing of ${engine} over several instances.`,
      "hardware.nodes",
      `\`pulumi config set spotter:multiNode ${hardware.gpu ?? "H100"}:${hardware.count}=${hardware.nodes}\`, then deploy it again.`,
    );
  const { hardwareClass, most, jobDefinition, jobQueue } = target;
  const [gpu = "", gpus = ""] = hardwareClass.split(":");
  if (hardware.gpu !== gpu || hardware.count > Number(gpus))
    throw refused(
      `This stack has nodes of ${gpus} × ${gpu}, not of ${hardware.count} × ${hardware.gpu ?? "no GPU"}.`,
      hardware.gpu === gpu ? "hardware.count" : "hardware.gpu",
      "Take those, or change spotter:multiNode of the stack.",
    );
  if (hardware.nodes > most)
    throw refused(
      `This stack has ${most} nodes for one run at most.`,
      "hardware.nodes",
      `Take fewer, or \`pulumi config set spotter:multiNode ${hardwareClass}=${hardware.nodes}\`.`,
    );
  if (hardware.spot)
    throw refused("Batch has no spot instances for several nodes.", "hardware.spot", "Ask without spot.");
  return { jobDefinition, jobQueue, nodes: hardware.nodes };
}

function definitionOf(engine: ForeignEngine, pattern: string | undefined, hardwareClass: string): string {
  if (pattern === undefined)
    throw new SpotterError("engine_missing", `This stack does not have ${engine} for that.`, {
      where: "engine",
      hint: engineHint(engine),
    });
  if (hardwareClass === "cpu")
    throw new SpotterError("invalid_input", `${engine} needs a GPU.`, {
      where: "hardware.gpu",
      hint: 'Say which, as in hardware: { gpu: "H100", count: 8 }.',
    });
  return pattern.replace("{class}", slugOf(hardwareClass));
}

/** As infra/components/gpu-pools.ts names what it makes: `h100-8`. */
function slugOf(hardwareClass: string): string {
  return hardwareClass.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

/** How the owner of a stack gives it an engine. */
export function engineHint(engine: ForeignEngine): string {
  return (
    `Name its image in the stack: \`pulumi config set --path 'spotter:engineImages[0]' ` +
    `${engine}=REPOSITORY@sha256:DIGEST\`, then deploy it again (docs/aws.md).`
  );
}
