import * as z from "zod";
import { GPU_CLASS_NAMES, instancesOf } from "./gpu-instances.ts";
import { GPU_ENGINES, isByDigest, isGpuEngine } from "./images.ts";

/** What people read of a setting, here, in Pulumi.yaml and in docs/aws.md. */
export interface SettingNote {
  /** Type of Pulumi.yaml; an array is one of texts. */
  type: "string" | "integer" | "boolean" | "array";
  description: string;
  /** What it costs a month while nothing runs, in words. */
  monthly: string;
}

/** Days that CloudWatch can keep logs. */
const LOG_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
] as const;
const NOTHING = "$0";
/** Where containers run is in a variable of functions, which Lambda gives 4 KB for all of theirs. */
export const MAX_GPU_CLASSES = 6;

/** `L4:1`, or `L4:1=4` with the most instances of it. */
const gpuClass = z.string().superRefine((text, context) => {
  const { name, most } = splitClass(text);
  if (!GPU_CLASS_NAMES.includes(name))
    context.addIssue({ code: "invalid_value", values: [...GPU_CLASS_NAMES], input: name });
  else if (!isCount(most, 1000))
    context.addIssue({
      code: "custom",
      input: text,
      message: `${JSON.stringify(most)} is no number of instances; write ${name}=4 for at most four`,
    });
});

const multiNode = z.string().superRefine((text, context) => {
  if (text === "") return;
  const { name, most } = splitClass(text);
  const known = GPU_CLASS_NAMES.filter((each) =>
    instancesOf(each).some(({ fabricCards }) => fabricCards > 0),
  );
  if (!known.includes(name)) context.addIssue({ code: "invalid_value", values: known, input: name });
  else if (most === undefined || !isCount(most, 64) || Number(most) < 2)
    context.addIssue({
      code: "custom",
      input: text,
      message: `needs its number of nodes, 2 to 64; write ${name}=2 for two`,
    });
});

/** `slime=slimerl/slime@sha256:…`: the engine and its image. */
const engineImage = z.string().superRefine((text, context) => {
  const { name, most: image = "" } = splitClass(text);
  if (!isGpuEngine(name)) context.addIssue({ code: "invalid_value", values: [...GPU_ENGINES], input: name });
  else if (!isByDigest(image))
    context.addIssue({
      code: "custom",
      input: text,
      message: `${JSON.stringify(image)} is no image by its digest; write ${name}=REPOSITORY@sha256:DIGEST`,
    });
});

function eachOnce(texts: string[], context: z.RefinementCtx): void {
  const names = texts.map((text) => splitClass(text).name);
  for (const [index, name] of names.entries())
    if (names.indexOf(name) !== index)
      context.addIssue({
        code: "custom",
        path: [index],
        message: `${name} is there twice`,
        params: { isTwice: true },
      });
}

/**
 * The settings of a stack (`pulumi config set spotter:NAME VALUE`), with what each of them costs a month while
 * nothing runs. What runs is paid by the hour: `spotter run launch --dry-run` and docs/cost.md tell how much.
 *
 * @example
 * pulumi config set spotter:gateway lambda
 * pulumi config set --path 'spotter:gpuClasses[0]' L4:1
 * pulumi config set --path 'spotter:gpuClasses[1]' H100:8=2
 */
export const SETTINGS = z.strictObject({
  removal: z.enum(["retain", "destroy"]).default("retain").meta({
    type: "string",
    description: "What `pulumi destroy` does with the bucket and the table: refuse, or destroy them too.",
    monthly: NOTHING,
  }),
  gateway: z.enum(["fargate", "lambda"]).default("fargate").meta({
    type: "string",
    description: "What carries chats: a small container that is always there, or a function for each chat.",
    monthly: "fargate about $40 (container, load balancer, addresses), lambda about $3",
  }),
  gpuClasses: z
    .array(gpuClass)
    .max(MAX_GPU_CLASSES, `may be ${MAX_GPU_CLASSES} at most, as functions are told of them in 4 KB`)
    .superRefine(eachOnce)
    .default(["L4:1"])
    .meta({
      type: "array",
      description:
        "GPUs that may be asked for, six kinds at most, such as L4:1, or L4:4=3 for at most three instances of four L4.",
      monthly: `${NOTHING}: no instance is there until somebody asks for it`,
    }),
  engineImages: z.array(engineImage).superRefine(eachOnce).default([]).meta({
    type: "array",
    description:
      "Engines for GPUs, each with its upstream image by digest: slime=REPOSITORY@sha256:DIGEST trains, vllm=... serves; nothing for none.",
    monthly: NOTHING,
  }),
  maxInstances: whole(1, 1000).default(2).meta({
    type: "integer",
    description:
      "Most instances of a GPU class that does not say its own: so many for replicas and for runs each, spot apart.",
    monthly: NOTHING,
  }),
  spot: z.boolean().default(true).meta({
    type: "boolean",
    description: "Whether spot instances may be asked for.",
    monthly: NOTHING,
  }),
  maxCpuTasks: whole(1, 1000).default(8).meta({
    type: "integer",
    description:
      "Most runs and evals without a GPU at a time; each has four processors and 16 GB on Fargate.",
    monthly: NOTHING,
  }),
  multiNode: multiNode.default("").meta({
    type: "string",
    description: "GPU class and most nodes of one training with slime, such as H100:8=2; nothing for none.",
    monthly: `${NOTHING} without, about $37 with it: its nodes need a NAT gateway and its address`,
  }),
  idleMinutes: whole(2, 240).default(10).meta({
    type: "integer",
    description: "A GPU instance without work for this long ends itself.",
    monthly: NOTHING,
  }),
  maxInstanceHours: whole(1, 720).default(192).meta({
    type: "integer",
    description: "A GPU instance of this age ends itself, whatever runs on it.",
    monthly: NOTHING,
  }),
  availabilityZones: whole(2, 3).default(2).meta({
    type: "integer",
    description: "Zones with a subnet: more of them have GPUs more often.",
    monthly: "$3.65 for each with the gateway on fargate: an address of the load balancer",
  }),
  domain: z
    .string()
    .regex(/^$|^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, "must be a name such as gym.example.com")
    // Certificates take 64 letters, and the load balancer's is of `origin.` and this.
    .max(57, "may have 57 letters at most")
    .default("")
    .meta({
      type: "string",
      description: "Domain of the stack; nothing for CloudFront's own.",
      monthly: `${NOTHING}: the certificate is free, the zone is yours already`,
    }),
  hostedZoneId: z
    .string()
    .regex(
      /^$|^Z[A-Z0-9]{5,32}$/,
      "must be the id of a hosted zone of Route 53, such as Z0123456789ABCDEFGHIJ",
    )
    .default("")
    .meta({
      type: "string",
      description: "Zone of Route 53 that the domain is in.",
      monthly: "$0.50, which you pay already",
    }),
  monthlyBudgetUsd: whole(1, 10_000_000).default(100).meta({
    type: "integer",
    description:
      "Budget in dollars: at 80 % and 100 % of it, and where the month heads beyond it, you are told.",
    monthly: NOTHING,
  }),
  budgetEmail: z
    .string()
    .regex(/^$|^[^@\s]{1,64}@[^@\s]{1,190}\.[^@\s]{1,60}$/, "must be an address such as me@example.com")
    .default("")
    .meta({
      type: "string",
      description: "Who is told of the budget and the alarms; nothing for nobody but the consoles.",
      monthly: NOTHING,
    }),
  maxFunctionConcurrency: whole(0, 10_000).default(0).meta({
    type: "integer",
    description:
      "Most calls of one function at a time, taken from what the account may have; 0 for no limit.",
    monthly: NOTHING,
  }),
  logRetentionDays: z.literal(LOG_DAYS).default(30).meta({
    type: "integer",
    description: "How many days logs are kept.",
    monthly: "$0.03 for each GB that is kept, and $0.50 once for each that is written",
  }),
});
export type Settings = z.infer<typeof SETTINGS>;
export type SettingName = keyof Settings;

/** What people read of each setting, in the order in which they matter. */
export const SETTING_NOTES = Object.fromEntries(
  Object.entries(SETTINGS.shape).map(([name, schema]) => [name, schema.meta()]),
) as unknown as Record<SettingName, SettingNote>;

/** What there was once, and what to do instead. */
export const RENAMED: Readonly<Record<string, string>> = {
  protectData: "it is removal now: retain protects the data, destroy does not",
};

/** Name and number of `L4:4=3`; without a number `most` is undefined. */
export function splitClass(text: string): { name: string; most: string | undefined } {
  const [name = "", ...rest] = text.split("=");
  return { name: name.trim(), most: rest.length === 0 ? undefined : rest.join("=").trim() };
}

function isCount(text: string | undefined, most: number): boolean {
  return text === undefined || (/^[1-9]\d*$/.test(text) && Number(text) <= most);
}

function whole(least: number, most: number) {
  return z.int().min(least).max(most);
}
