import { beforeAll, describe, expect, it } from "vitest";
import { GPU_CLASS_NAMES } from "../../infra/config/gpu-instances.ts";
import { MAX_GPU_CLASSES, SETTINGS, type SettingName } from "../../infra/config/settings.ts";
import { RULES } from "../../infra/policies/rules.ts";
import { recordStack, type Recorded } from "./record-stack.ts";
import "./without-bundles.ts";

/** A stack, by what a test looks for. */
class Stack {
  readonly resources: readonly Recorded[];
  readonly outputs: Record<string, unknown>;
  constructor({ resources, outputs }: { resources: readonly Recorded[]; outputs: Record<string, unknown> }) {
    this.resources = resources;
    this.outputs = outputs;
  }

  /** Inputs of all resources of AWS whose type ends so, such as `Bucket`. */
  all(type: string): Recorded["inputs"][] {
    return this.resources
      .filter((each) => each.custom && each.type.endsWith(`:${type}`))
      .map(({ inputs }) => inputs);
  }

  count(type: string): number {
    return this.all(type).length;
  }

  urns(): string[] {
    return this.resources.map(({ urn }) => urn).sort();
  }

  /** What is there besides, and what is there no more; by type. */
  since(before: Stack): { more: string[]; fewer: string[] } {
    const [mine, theirs] = [new Set(this.urns()), new Set(before.urns())];
    const types = (stack: Stack, others: Set<string>) =>
      stack.resources.filter(({ urn }) => !others.has(urn)).map(({ type }) => type.split(":").at(-1) ?? "");
    return { more: types(this, theirs).sort(), fewer: types(before, mine).sort() };
  }

  text(): string {
    return JSON.stringify(this.resources.map(({ urn, inputs, protect }) => ({ urn, inputs, protect })));
  }
}

const make = async (config: Record<string, string> = {}) => new Stack(await recordStack(config));

let plain: Stack;
beforeAll(async () => {
  plain = await make();
}, 60_000);

const DIGEST = "0".repeat(64);
const DOMAIN = { domain: "gym.example.com", hostedZoneId: "Z0123456789ABCDEFGHIJ" };

/** Each setting, by something that it changes and what must come of it. */
const TOGGLES: Record<SettingName, { config: Record<string, string>; expectChange: (now: Stack) => void }> = {
  removal: {
    config: { removal: "destroy" },
    expectChange: (now) => {
      expect(now.since(plain)).toEqual({ more: [], fewer: [] });
      expect(plain.resources.filter(({ protect }) => protect)).toHaveLength(7);
      expect(now.resources.filter(({ protect }) => protect)).toEqual([]);
    },
  },
  gateway: {
    config: { gateway: "lambda" },
    expectChange: (now) => {
      const { more, fewer } = now.since(plain);
      expect(fewer).toEqual(expect.arrayContaining(["LoadBalancer", "TargetGroup", "Listener", "Service"]));
      expect(more.filter((type) => type === "Function")).toHaveLength(2);
      expect([now.count("LoadBalancer"), now.count("Service")]).toEqual([0, 0]);
    },
  },
  gpuClasses: {
    config: { gpuClasses: "[]" },
    expectChange: (now) => {
      const { more, fewer } = now.since(plain);
      expect(more).toEqual([]);
      expect(fewer).toEqual(expect.arrayContaining(["CapacityProvider", "Group", "LaunchTemplate"]));
      expect([now.count("Group"), now.count("LaunchTemplate")]).toEqual([0, 0]);
    },
  },
  engineImages: {
    config: { engineImages: JSON.stringify(["slime", "vllm"].map((each) => `${each}=x@sha256:${DIGEST}`)) },
    expectChange: (now) => {
      const { more, fewer } = now.since(plain);
      expect(fewer).toEqual([]);
      // The agent that they fetch, and a definition of each engine for the one GPU class.
      expect(more).toEqual(["BucketObjectv2", "JobDefinition", "ProgramObject", "TaskDefinition"]);
    },
  },
  maxInstances: {
    config: { maxInstances: "7" },
    expectChange: (now) => {
      expect(now.since(plain)).toEqual({ more: [], fewer: [] });
      expect(plain.all("Group").map(({ maxSize }) => maxSize)).toEqual([2, 2]);
      expect(now.all("Group").map(({ maxSize }) => maxSize)).toEqual([7, 7]);
    },
  },
  spot: {
    config: { spot: "false" },
    expectChange: (now) => {
      const { more, fewer } = now.since(plain);
      expect(more).toEqual([]);
      // Of replicas a group and its provider, of runs without a GPU and with one a queue over its environment.
      expect(fewer).toEqual(
        [
          "CapacityProvider",
          "ComputeEnvironment",
          "ComputeEnvironment",
          "Group",
          "JobQueue",
          "JobQueue",
        ].sort(),
      );
      const markets = now
        .all("ComputeEnvironment")
        .map((each) => (each["computeResources"] as { type: string }).type);
      expect(markets.sort()).toEqual(["EC2", "FARGATE"]);
    },
  },
  maxCpuTasks: {
    config: { maxCpuTasks: "3" },
    expectChange: (now) => {
      expect(now.since(plain)).toEqual({ more: [], fewer: [] });
      const most = (stack: Stack) =>
        stack
          .all("ComputeEnvironment")
          .map((each) => each["computeResources"] as { type: string; maxVcpus: number })
          .find(({ type }) => type === "FARGATE")?.maxVcpus;
      expect([most(plain), most(now)]).toEqual([32, 12]);
    },
  },
  multiNode: {
    config: { multiNode: "H100:8=2" },
    expectChange: (now) => {
      const { more, fewer } = now.since(plain);
      expect(fewer).toEqual([]);
      expect(more).toEqual(
        expect.arrayContaining(["ComputeEnvironment", "JobQueue", "NatGateway", "PlacementGroup"]),
      );
      expect(plain.count("NatGateway")).toBe(0);
    },
  },
  idleMinutes: { config: { idleMinutes: "33" }, expectChange: (now) => expectOnly(now, "LaunchTemplate") },
  maxInstanceHours: {
    config: { maxInstanceHours: "77" },
    expectChange: (now) => expectOnly(now, "LaunchTemplate", "JobDefinition"),
  },
  availabilityZones: {
    config: { availabilityZones: "3" },
    expectChange: (now) => {
      expect(now.since(plain)).toEqual({ more: ["RouteTableAssociation", "Subnet"], fewer: [] });
      expect([plain.count("Subnet"), now.count("Subnet")]).toEqual([2, 3]);
    },
  },
  domain: { config: DOMAIN, expectChange: expectDomain },
  hostedZoneId: { config: DOMAIN, expectChange: expectDomain },
  monthlyBudgetUsd: {
    config: { monthlyBudgetUsd: "750" },
    expectChange: (now) => {
      expect(plain.all("Budget").map(({ limitAmount }) => limitAmount)).toEqual(["100"]);
      expect(now.all("Budget").map(({ limitAmount }) => limitAmount)).toEqual(["750"]);
    },
  },
  budgetEmail: {
    config: { budgetEmail: "me@example.com" },
    expectChange: (now) => {
      expect(now.since(plain)).toEqual({ more: ["TopicSubscription"], fewer: [] });
      expect(plain.text()).not.toContain("@example.com");
      expect(now.all("TopicSubscription").map(({ endpoint }) => endpoint)).toEqual(["me@example.com"]);
    },
  },
  maxFunctionConcurrency: {
    config: { maxFunctionConcurrency: "5" },
    expectChange: (now) => {
      const limits = (stack: Stack) =>
        new Set(stack.all("Function").map((each) => each["reservedConcurrentExecutions"]));
      expect(limits(plain)).toEqual(new Set([undefined]));
      expect([...limits(now)]).toContain(5);
    },
  },
  logRetentionDays: {
    config: { logRetentionDays: "7" },
    expectChange: (now) => {
      const days = (stack: Stack) =>
        new Set(stack.all("LogGroup").map(({ retentionInDays }) => retentionInDays));
      expect([days(plain), days(now)]).toEqual([new Set([30]), new Set([7])]);
    },
  },
};

function expectDomain(now: Stack): void {
  const { more, fewer } = now.since(plain);
  expect(fewer).toEqual([]);
  expect(more).toEqual(expect.arrayContaining(["Certificate", "CertificateValidation", "Record"]));
  expect(now.outputs["url"]).toBe("https://gym.example.com");
  expect(new Set(now.all("Record").map(({ zoneId }) => zoneId))).toEqual(new Set(["Z0123456789ABCDEFGHIJ"]));
  expect(now.all("Listener").map(({ protocol }) => protocol)).toEqual(["HTTPS"]);
}

/** Resources of these types differ, and no others. */
function expectOnly(now: Stack, ...types: string[]): void {
  expect(now.since(plain)).toEqual({ more: [], fewer: [] });
  const before = new Map(plain.resources.map(({ urn, inputs }) => [urn, JSON.stringify(inputs)]));
  const changed = now.resources.filter(({ urn, inputs }) => before.get(urn) !== JSON.stringify(inputs));
  expect([...new Set(changed.map(({ type }) => type.split(":").at(-1)))].sort()).toEqual(types.sort());
}

describe("each setting changes what it says", () => {
  it("is about all of them", () => {
    expect(Object.keys(TOGGLES).sort()).toEqual(Object.keys(SETTINGS.shape).sort());
  });

  it.each(Object.entries(TOGGLES))(
    "%s",
    async (_, { config, expectChange }) => {
      const own = Object.entries(config).map(([name, value]) => [`spotter:${name}`, value]);
      const now = await make(Object.fromEntries(own) as Record<string, string>);
      expectChange(now);
      // Whatever somebody chooses, the rules hold.
      const policed = now.resources.map(({ type, name, urn, inputs }) => ({
        type,
        name,
        urn,
        props: inputs,
      }));
      expect(RULES.flatMap((rule) => rule.check(policed))).toEqual([]);
    },
    60_000,
  );

  it("has a pool for each GPU class that there is", async () => {
    for (let start = 0; start < GPU_CLASS_NAMES.length; start += MAX_GPU_CLASSES) {
      const names = GPU_CLASS_NAMES.slice(start, start + MAX_GPU_CLASSES);
      const now = await make({ "spotter:gpuClasses": JSON.stringify(names) });
      const pools = names.length * 2;
      expect([now.count("Group"), now.count("CapacityProvider")]).toEqual([pools, pools]);
      for (const name of names) expect(now.text(), name).toContain(`\\"${name}\\":`);
    }
  }, 60_000);
});
