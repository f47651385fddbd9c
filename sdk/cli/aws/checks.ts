import type { SpotterError } from "../../schema/errors.ts";
import { LOGIN_HINT } from "./aws-failure.ts";
import type { StackPlan } from "./plan.ts";
import type { TaggedResource } from "./tagged-resources.ts";
import { kindOf } from "./resource-kinds.ts";

/** One thing that was looked at before a stack is made or changed. */
export interface Check {
  /** Its short name, the same in every run. */
  check: "node" | "pulumi" | "settings" | "credentials" | "region" | "quota" | "offers" | "engines" | "stack";
  /** `warning`: the stack can be made, and something of it will be less than was asked for. */
  status: "ok" | "warning" | "failed";
  message: string;
  /** A command or a step that mends it. */
  remedy?: string;
  /** An update would fail for it; what only GPUs need does not stop one. */
  stopsUpdate?: true;
}

/** What was answered, or why there is no answer. */
export type Answer<T> = { value: T } | { error: SpotterError };

const LEAST_NODE = [22, 19] as const;
const LEAST_PULUMI = [3, 200] as const;

/** @param version Of the `node` that Pulumi would start. */
export function nodeCheck(version: Answer<string>): Check {
  if ("value" in version && isAtLeast(version.value, LEAST_NODE))
    return { check: "node", status: "ok", message: `Pulumi will start Node ${bare(version.value)}.` };
  const found = "value" in version ? `is ${bare(version.value)}` : "was not found";
  return {
    check: "node",
    status: "failed",
    message: `The Node that Pulumi would start ${found}; the program needs ${LEAST_NODE.join(".")} or newer.`,
    remedy: "Run `npm ci` in the clone, which brings the right one.",
    stopsUpdate: true,
  };
}

export function pulumiCheck(version: Answer<string>): Check {
  const check = "pulumi";
  if ("error" in version)
    return {
      check,
      status: "failed",
      message: version.error.message,
      ...(version.error.hint !== undefined && { remedy: version.error.hint }),
      stopsUpdate: true,
    };
  if (isAtLeast(version.value, LEAST_PULUMI))
    return { check, status: "ok", message: `Pulumi ${bare(version.value)} is installed.` };
  return {
    check,
    status: "failed",
    message: `Pulumi ${bare(version.value)} is too old; the program needs ${LEAST_PULUMI.join(".")} or newer.`,
    remedy: "Install a newer one: https://www.pulumi.com/docs/install/",
    stopsUpdate: true,
  };
}

/** @param backend Where Pulumi keeps states; undefined: nobody is logged in. */
export function loginCheck(backend: Answer<string | undefined>): Check[] {
  // Without Pulumi itself that is told already.
  if ("error" in backend)
    return backend.error.code === "package_missing"
      ? []
      : [failed("pulumi", backend.error, "Run `pulumi whoami`.")];
  if (backend.value !== undefined)
    return [
      {
        check: "pulumi",
        status: "ok",
        message: `The state of stacks is kept in ${withoutPassword(backend.value) || "Pulumi"}.`,
      },
    ];
  return [
    {
      check: "pulumi",
      status: "warning",
      message: "Nobody is logged in to Pulumi: there is nowhere to keep the state of a stack.",
      remedy: "`spotter deploy --backend s3` makes a bucket for it; or log in: `pulumi login`.",
    },
  ];
}

/** Settings that could not be read are not those that the defaults are: nothing may be made of them. */
export function readableCheck(settings: Answer<unknown> | undefined): Check[] {
  if (settings === undefined || "value" in settings || settings.error.code === "package_missing") return [];
  return [failed("settings", settings.error, "Run `pulumi config`.")];
}

/** @param wrong What is wrong with the settings of the stack, each with the command that mends it. */
export function settingsChecks(wrong: readonly { path: string; message: string; remedy: string }[]): Check[] {
  return wrong.map(({ path, message, remedy }) => ({
    check: "settings",
    status: "failed",
    message: `spotter:${path} ${message}.`,
    remedy,
    stopsUpdate: true,
  }));
}

export function credentialsCheck(identity: Answer<{ account: string; arn: string }>): Check {
  const check = "credentials";
  if ("error" in identity) return failed(check, identity.error, LOGIN_HINT);
  const { account, arn } = identity.value;
  return { check, status: "ok", message: `Account ${account}, as ${arn}.` };
}

/** @param optIn What EC2 says of the region; undefined: there is no such region. */
export function regionCheck(region: string | undefined, optIn: Answer<string | undefined>): Check {
  const check = "region";
  if (region === undefined)
    return {
      check,
      status: "failed",
      message: "No region is chosen.",
      remedy: "Give one with `--region eu-central-1`, or set AWS_REGION.",
      stopsUpdate: true,
    };
  if ("error" in optIn) return failed(check, optIn.error, "Allow ec2:DescribeRegions, then try again.");
  if (optIn.value === undefined)
    return {
      check,
      status: "failed",
      message: `There is no region ${region}.`,
      remedy: "Give another with `--region`, for example eu-central-1 or us-east-1.",
      stopsUpdate: true,
    };
  if (optIn.value === "not-opted-in")
    return {
      check,
      status: "failed",
      message: `The account has not enabled the region ${region}.`,
      remedy: `aws account enable-region --region-name ${region}`,
      stopsUpdate: true,
    };
  return { check, status: "ok", message: `${region} is enabled.` };
}

/** Zones in which a GPU class can be had at all; capacity is another matter. */
export function offersCheck(
  { name, instanceTypes }: StackPlan["gpuClasses"][number],
  region: string,
  offers: Answer<readonly { type: string; zone: string }[]>,
): Check {
  const check = "offers";
  if ("error" in offers) return unknown(check, `where ${region} offers ${name}`, offers.error);
  const zones = new Set(
    offers.value.filter(({ type }) => instanceTypes.includes(type)).map(({ zone }) => zone),
  );
  const types = instanceTypes.join(", ");
  const listed = [...zones].sort().join(", ");
  if (zones.size === 0)
    return {
      check,
      status: "failed",
      message: `${region} has no zone that offers ${name} (${types}).`,
      remedy: "Take another region with `--region`, or another class in spotter:gpuClasses.",
    };
  if (zones.size === 1)
    return {
      check,
      status: "warning",
      message: `${name} (${types}) is offered in one zone of ${region} only: ${listed}.`,
      remedy: "Expect waits when that zone is full, or add a class that more zones offer.",
    };
  return { check, status: "ok", message: `${name} (${types}) is offered in ${listed}.` };
}

/** Which engines there are for GPUs, and in which images: what a container cannot pull is told by its first job alone. */
export function enginesCheck({ engineImages = {} }: Pick<StackPlan, "engineImages">): Check[] {
  const check = "engines";
  const images = Object.entries(engineImages);
  if (images.length === 0)
    return [
      {
        check,
        status: "ok",
        message: "No engine for GPUs has an image (spotter:engineImages): the embedded one alone is offered.",
      },
    ];
  return images.map(([engine, image]) => ({
    check,
    status: "ok",
    message: `${engine} runs in ${image}, which is not looked for here.`,
    remedy: `docker buildx imagetools inspect ${image} tells whether its registry has it, for x64.`,
  }));
}

/** What outlives a stack whose data is kept. */
const DATA: ReadonlySet<string> = new Set(["s3:bucket", "dynamodb:table"]);

/** Whether the name is taken by somebody whose state is elsewhere. */
export function stackCheck(
  stack: string,
  region: string,
  resources: Answer<readonly TaggedResource[]>,
  /** Whether Pulumi's state has the stack; undefined: that could not be asked. */
  isKnown: boolean | undefined,
): Check {
  const check = "stack";
  if ("error" in resources) return unknown(check, `whether ${region} has a stack ${stack}`, resources.error);
  const count = resources.value.length;
  if (count === 0) return { check, status: "ok", message: `${region} has nothing of a stack ${stack} yet.` };
  if (isKnown === true)
    return {
      check,
      status: "ok",
      message: `The stack ${stack} is known; ${region} has ${count} resources of it.`,
    };
  const rest = resources.value.filter(({ arn }) => !DATA.has(kindOf(arn)));
  if (rest.length === 0)
    return {
      check,
      status: "warning",
      message: `${region} keeps data of an earlier stack ${stack} (${count} resources); a new one begins empty.`,
      remedy: "`spotter cleanup --verify` lists it.",
    };
  if (isKnown === undefined)
    return {
      check,
      status: "warning",
      message: `${region} has ${count} resources of a stack ${stack}; whether it is yours, Pulumi was not asked.`,
      remedy: "Log in with `pulumi login` where its state is.",
    };
  return {
    check,
    status: "failed",
    message: `${region} has ${count} resources of a stack ${stack} that Pulumi's state here does not know.`,
    remedy: "Take another name with `--stack`, or log in with `pulumi login` where its state is.",
    stopsUpdate: true,
  };
}

/** A check that could not be made, because nobody answered. */
export function unknown(check: Check["check"], what: string, { message, hint }: SpotterError): Check {
  return {
    check,
    status: "warning",
    message: `It is not known ${what}: ${message}`,
    ...(hint !== undefined && { remedy: hint }),
  };
}

function failed(check: Check["check"], { message, hint }: SpotterError, remedy: string): Check {
  return { check, status: "failed", message, remedy: hint ?? remedy, stopsUpdate: true };
}

/** An address may have a name and a password in front. */
function withoutPassword(url: string): string {
  return url.replace(/\/\/[^/]*@/, "//");
}

function bare(version: string): string {
  return version.trim().replace(/^v/, "");
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [has = 0, hasMinor = 0] = bare(version).split(".").map(Number);
  return has > major || (has === major && hasMinor >= minor);
}
