import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { DEFAULT_LIFETIME_MS } from "../../functions/cost/lifetime.ts";
import { SHIPPED_PRICES } from "../../functions/cost/prices.ts";
import { gpuClass } from "../../sdk/schema/hardware.ts";
import { readConfig } from "../../infra/config.ts";
import { idleCosts, totalUsd } from "../../infra/config/costs.ts";
import { GPU_INSTANCES } from "../../infra/config/gpu-instances.ts";
import { IMAGES, isByDigest } from "../../infra/config/images.ts";
import { SETTING_NOTES, SETTINGS, type SettingName } from "../../infra/config/settings.ts";

beforeAll(async () => {
  await pulumi.runtime.setMocks(
    { newResource: () => ({ id: undefined, state: {} }), call: () => ({}) },
    "spotter",
    "prod",
  );
});

const read = (settings: Record<string, string> = {}) => {
  const config: Record<string, string> = { "aws:region": "eu-central-1" };
  for (const [name, value] of Object.entries(settings)) config[`spotter:${name}`] = value;
  pulumi.runtime.setAllConfig(config);
  return readConfig();
};

const refusal = (settings: Record<string, string>): string => {
  try {
    read(settings);
  } catch (error) {
    expect(error).toBeInstanceOf(pulumi.RunError);
    return (error as Error).message;
  }
  throw new Error("was not refused");
};

const SLIME = `slimerl/slime@sha256:${"0".repeat(64)}`;
const VLLM = `vllm/vllm-openai@sha256:${"1".repeat(64)}`;

describe("settings", () => {
  it("have a default for everything", () => {
    expect(read()).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      logRetentionDays: 30,
      removal: "retain",
      gateway: "fargate",
      domain: null,
      gpuClasses: [
        {
          name: "L4:1",
          gpu: "L4",
          gpus: 1,
          instanceTypes: ["g6.xlarge"],
          vCpus: 4,
          memoryGiB: 16,
          maxInstances: 2,
          spot: true,
        },
      ],
      engineImages: {},
      spot: true,
      maxCpuTasks: 8,
      availabilityZones: 2,
      budget: { monthlyUsd: 100, email: null },
      multiNode: null,
      host: { idleMinutes: 10, maxHours: 192 },
      tags: { "spotter:stack": "prod", "spotter:project": "spotter" },
    });
  });

  it("are what the stack sets", () => {
    const config = read({
      logRetentionDays: "7",
      removal: "destroy",
      gateway: "lambda",
      domain: "gym.example.com",
      hostedZoneId: "Z0123456789ABC",
      gpuClasses: '["L4:1","H100:8=3"]',
      engineImages: JSON.stringify([`slime=${SLIME}`, `vllm=${VLLM}`]),
      maxInstances: "5",
      spot: "false",
      multiNode: "H100:8=4",
      budgetEmail: "me@example.com",
      maxFunctionConcurrency: "20",
    });
    expect(config).toMatchObject({
      logRetentionDays: 7,
      removal: "destroy",
      gateway: "lambda",
      domain: { name: "gym.example.com", zoneId: "Z0123456789ABC" },
      gpuClasses: [
        { name: "L4:1", maxInstances: 5, spot: false },
        { name: "H100:8", gpu: "H100", gpus: 8, instanceTypes: ["p5.48xlarge"], maxInstances: 3 },
      ],
      engineImages: { slime: SLIME, vllm: VLLM },
      multiNode: { gpuClass: { name: "H100:8", spot: false }, maxNodes: 4, fabricCards: 32 },
      budget: { monthlyUsd: 100, email: "me@example.com" },
      maxFunctionConcurrency: 20,
    });
  });

  it("may name no GPU at all", () => {
    expect(read({ gpuClasses: "[]" }).gpuClasses).toEqual([]);
  });
});

it("lets a host live longer than any container may", () => {
  const { host } = read();
  expect(host.maxHours * 3_600_000).toBeGreaterThan(DEFAULT_LIFETIME_MS);
});

describe("a wrong setting", () => {
  it.each([
    ["logRetentionDays", "31", "must be one of 1, 3, 5,", "pulumi config set spotter:logRetentionDays 30"],
    ["gateway", "fargat", "did you mean fargate?", "pulumi config set spotter:gateway fargate"],
    ["maxInstances", "many", '"many" is no whole number', "pulumi config set spotter:maxInstances 2"],
    ["maxInstances", "0", "not 0", "pulumi config set spotter:maxInstances 2"],
    ["spot", "yes", '"yes" is no true or false', "pulumi config set spotter:spot true"],
    ["gpuClasses", '["L4:1","L4:2"]', "gpuClasses[1] must be one of T4:1,", "did you mean L4:"],
    ["gpuClasses", '["L4:1=none"]', '"none" is no number of instances', "--path 'spotter:gpuClasses[0]'"],
    ["gpuClasses", '["L4:1","L4:1=4"]', "gpuClasses[1] L4:1 is there twice", "pulumi config rm --path"],
    ["gpuClasses", '["L4:1",4]', "gpuClasses[1] Invalid input: expected string", "gpuClasses[1]' L4:1"],
    ["gpuClasses", "L4:1", '"L4:1" is no list', "pulumi config set --path 'spotter:gpuClasses[0]' L4:1"],
    [
      "engineImages",
      '["slime=slimerl/slime:latest"]',
      "is no image by its digest",
      "engineImages[0]' slime=",
    ],
    ["engineImages", '["slim=x"]', "engineImages[0] must be one of slime, vllm", "did you mean slime?"],
    ["engineImages", '["vllm"]', "write vllm=REPOSITORY@sha256:DIGEST", "engineImages[0]' slime="],
    ["engineImages", `["slime=${SLIME}","slime=${VLLM}"]`, "[1] slime is there twice", "config rm --path"],
    ["engineImages", SLIME, "is no list", "--path 'spotter:engineImages[0]' slime=REPOSITORY@sha256:DIGEST"],
    ["multiNode", "L4:1=2", "must be one of T4:4, T4:8,", "pulumi config set spotter:multiNode"],
    ["multiNode", "H100:8", "needs its number of nodes", "pulumi config set spotter:multiNode"],
    ["gpuClasses", '["l4:1"]', "did you mean L4:1?", "pulumi config set --path 'spotter:gpuClasses[0]' L4:1"],
    ["maxInstances", "99999999999999999999", "Too big", "pulumi config set spotter:maxInstances 2"],
    ["multiNode", "H100:8=1", "2 to 64; write H100:8=2", "pulumi config set spotter:multiNode"],
    ["hostedZoneId", "zone", "the id of a hosted zone", "pulumi config set spotter:hostedZoneId ''"],
    ["domain", "https://gym", "a name such as gym.example.com", "pulumi config set spotter:domain ''"],
    ["domain", `${"a".repeat(50)}.example`, "57 letters at most", "pulumi config set spotter:domain ''"],
    ["domain", `${"a-".repeat(500_000)}!`, "a name such as gym.example.com", "pulumi config set"],
    ["budgetEmail", `a@${".".repeat(500_000)}@`, "an address such as", "pulumi config set"],
    ["budgetEmail", "me", "an address such as me@example.com", "pulumi config set spotter:budgetEmail ''"],
    ["gatway", "lambda", "is no setting; did you mean gateway?", "pulumi config rm spotter:gatway"],
    ["protectData", "false", "it is removal now", "pulumi config rm spotter:protectData"],
    ["__proto__", "red", "is no setting; there are removal, gateway,", "pulumi config rm spotter:__proto__"],
    ["colour", "red", "is no setting; there are removal, gateway,", "pulumi config rm spotter:colour"],
  ])("%s %s is refused with what is meant and how to mend it", (name, value, message, remedy) => {
    const text = refusal({ [name]: value });
    expect(text).toMatch(
      /^invalid_input: (A setting|2 settings) of this stack (is|are) wrong:\n {2}spotter:/,
    );
    expect(text).toContain(`spotter:${name}`);
    expect(text).toContain(message);
    expect(text).toContain(remedy);
  });

  it.each([
    [{ domain: "gym.example.com" }, "spotter:hostedZoneId is missing: domain needs it"],
    [{ hostedZoneId: "Z0123456789ABC" }, "spotter:domain is missing: hostedZoneId needs it"],
    [
      { gpuClasses: "[]", engineImages: `["slime=${SLIME}"]` },
      "spotter:engineImages need GPUs, and gpuClasses has none",
    ],
  ])("%o lacks its other half", (settings, message) => {
    expect(refusal(settings)).toContain(message);
  });

  it("does not hide the others (56)", () => {
    const text = refusal({
      gatway: "x",
      gateway: "ecs",
      maxInstances: "-1",
      spot: "1",
      domain: "a.example.com",
    });
    expect(text).toContain("5 settings of this stack are wrong:");
    for (const name of ["gatway", "gateway", "maxInstances", "spot", "hostedZoneId"])
      expect(text).toContain(`\n  spotter:${name} `);
  });
});

it("is in Pulumi.yaml word for word, so that nothing has to be set before the first update", () => {
  const file = readFileSync(join(import.meta.dirname, "../../Pulumi.yaml"), "utf8");
  const { config } = parse(file) as { config: Record<string, unknown> };
  const own = Object.entries(config).filter(([key]) => key.startsWith("spotter:"));
  const expected = Object.entries(SETTING_NOTES).map(([name, { type, description }]) => [
    `spotter:${name}`,
    {
      type,
      ...(type === "array" && { items: { type: "string" } }),
      description,
      default: SETTINGS.shape[name as SettingName].parse(undefined),
    },
  ]);
  expect(own).toEqual(expected);
});

describe("what a stack costs while nobody uses it", () => {
  const total = (settings: Record<string, string> = {}) => totalUsd(idleCosts(read(settings)));

  it("is as the settings say", () => {
    expect(total()).toBeGreaterThan(38);
    expect(total()).toBeLessThan(45);
    expect(total({ gateway: "lambda" })).toBe(3);
    expect(total({ multiNode: "H100:8=2" }) - total()).toBeCloseTo(36.5);
    expect(total({ availabilityZones: "3" }) - total()).toBeCloseTo(3.65);
    expect(total({ gpuClasses: '["H100:8","L4:4=9"]' })).toBe(total());
  });

  it("is told beside each setting, and names settings that exist", () => {
    for (const [name, { monthly }] of Object.entries(SETTING_NOTES)) expect(monthly, name).toMatch(/^.*\$\d/);
    const named = idleCosts(read({ multiNode: "H100:8=2" })).flatMap(({ setting }) => setting ?? []);
    expect(new Set(named)).toEqual(new Set(["gateway", "availabilityZones", "multiNode"]));
  });
});

it("runs GPUs on the instances that the price list knows, as it knows them", () => {
  const priced = Object.entries(SHIPPED_PRICES.instances).map(([type, { gpu, gpus, vCpus, memoryGiB }]) => ({
    type,
    gpu,
    gpus,
    vCpus,
    memoryGiB,
  }));
  expect(GPU_INSTANCES.map(({ fabricCards: _cards, ...each }) => each)).toEqual(priced);
  expect(new Set(GPU_INSTANCES.map(({ gpu }) => gpu))).toEqual(new Set(gpuClass.options));
});

it("names images by digest", () => {
  for (const image of Object.values(IMAGES)) expect(isByDigest(image), image).toBe(true);
  const digest = `@sha256:${"0f".repeat(32)}`;
  for (const name of ["slimerl/slime", "localhost:5000/a/b_c", "registry.example/a:v1"])
    expect(isByDigest(`${name}${digest}`), name).toBe(true);
  for (const name of ["node:24", `a:b:c${digest}`, `a//b${digest}`, `-a${digest}`, `a/B${digest}`, digest])
    expect(isByDigest(name), name).toBe(false);
  expect(isByDigest(`a${digest}0`)).toBe(false);
});
