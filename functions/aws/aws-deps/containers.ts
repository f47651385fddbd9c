import * as z from "zod/mini";
import { gpuClass } from "../../../sdk/schema/hardware.ts";
import { AwsContainers } from "../aws-containers.ts";
import { engineHint, servePlace, workPlace } from "../aws-containers/place.ts";
import { adapter } from "./adapter.ts";

const name = z.string().check(z.minLength(1));
const hardwareClass = z.union([
  z.literal("cpu"),
  gpuClass,
  z.templateLiteral([gpuClass, ":", z.number().check(z.int())]),
]);

const serveTarget = z.strictObject({
  taskDefinition: name,
  capacityProvider: name,
  spotCapacityProvider: z.optional(name),
  autoScalingGroups: z.optional(z.array(name)),
  network: z.optional(z.enum(["awsvpc", "host"])),
});
const workTarget = z.strictObject({ jobDefinition: name, jobQueue: name, spotJobQueue: z.optional(name) });
const engineTarget = z.strictObject({
  serve: z.optional(name),
  work: z.optional(name),
  nodes: z.optional(
    z.strictObject({
      hardwareClass: name,
      most: z.int().check(z.gte(2)),
      jobDefinition: name,
      jobQueue: name,
    }),
  ),
});

/** What the stack runs containers on. One JSON text: it is of one piece, and a function has few variables. */
export const containerPlaces = z.strictObject({
  cluster: name,
  subnets: z.array(name).check(z.minLength(1)),
  securityGroups: z.array(name),
  assignPublicIp: z._default(z.boolean(), false),
  containerName: z._default(name, "spotter"),
  logGroup: name,
  logStreamPrefix: z._default(name, "spotter"),
  serve: z.partialRecord(hardwareClass, serveTarget),
  work: z.partialRecord(hardwareClass, workTarget),
  engines: z._default(z.partialRecord(z.enum(["slime", "vllm"]), engineTarget), {}),
});

const variables = { SPOTTER_CONTAINERS: z.pipe(jsonText(), containerPlaces) };

export interface ContainerSettings {
  SPOTTER_CONTAINERS: z.infer<typeof containerPlaces>;
}

/** Containers as tasks of ECS and jobs of Batch. */
export const containers = adapter<AwsContainers, typeof variables>({
  variables,
  config: ({ SPOTTER_CONTAINERS: places }) => {
    const engines = Object.keys(places.engines) as (keyof typeof places.engines)[];
    // Nothing of a place depends on the stack's name.
    const params = { ...places, stack: "" };
    return {
      engines: () => engines,
      engineHint,
      checkPlace: (kind, wanted) =>
        void (kind === "serve" ? servePlace(params, wanted) : workPlace(params, wanted)),
    };
  },
  open: ({ SPOTTER_CONTAINERS: places }, { settings, clock, log, redact }) =>
    new AwsContainers({ params: { ...places, stack: settings.SPOTTER_STACK }, clock, log, redact }),
});

function jsonText() {
  return z.pipe(
    z.string(),
    z.transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.issues.push({ code: "custom", message: "not JSON", input: text });
        return z.NEVER;
      }
    }),
  );
}
