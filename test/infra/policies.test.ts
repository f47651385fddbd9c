import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isWildcardOnlyAction } from "@cloud-copilot/iam-simulate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPEN_INGRESS, PLAIN_HTTP, WIDE_ACTIONS } from "../../infra/policies/reasons.ts";
import type { Finding, Resource } from "../../infra/policies/rule.ts";
import { RULES } from "../../infra/policies/rules.ts";
import { UNTAGGED } from "../../infra/policies/rules/upkeep.ts";
import { startPolicyPack, type PolicyPackProcess } from "./engine/policy-pack.ts";
import { recordStack } from "./record-stack.ts";
import "./without-bundles.ts";
import { RIGHT, VIOLATIONS } from "./violations.ts";

const root = join(import.meta.dirname, "../..");
let stack: Resource[];
beforeAll(async () => {
  stack = (await recordStack()).resources.map(asResource);
}, 60_000);

function asResource({
  type,
  name,
  urn,
  inputs,
}: { inputs: Resource["props"] } & Omit<Resource, "props">): Resource {
  return { type, name, urn, props: inputs };
}

function check(rule: string, resources: readonly Resource[]): Finding[] {
  return RULES.find(({ name }) => name === rule)?.check(resources) ?? [];
}

describe("the stack", () => {
  it.each(RULES)("keeps $name", (rule) => {
    expect(rule.check(stack)).toEqual([]);
  });
});

describe("each rule", () => {
  it("has an example of what breaks it", () => {
    expect([...new Set(VIOLATIONS.map(({ rule }) => rule))].sort()).toEqual(
      RULES.map(({ name }) => name).sort(),
    );
  });

  it.each(VIOLATIONS)("$rule: says $message", ({ rule, resources, message }) => {
    const findings = check(rule, resources);
    expect(findings.map((finding) => finding.message).join("\n")).toMatch(message);
  });

  it("lets pass what is right", () => {
    expect(RULES.flatMap((rule) => rule.check(RIGHT))).toEqual([]);
  });

  it("says nothing of resources that it is not about", () => {
    const other: Resource = {
      type: "random:index/randomPassword:RandomPassword",
      name: "x",
      urn: "urn:pulumi:test::spotter::random:index/randomPassword:RandomPassword::x",
      props: {},
    };
    expect(RULES.filter(({ needsAll }) => !needsAll).flatMap((rule) => rule.check([other]))).toEqual([]);
  });
});

describe("the reasons", () => {
  it("are needed: AWS knows no resource for these calls", async () => {
    for (const [action, { needs }] of Object.entries(WIDE_ACTIONS)) {
      const [service = "", call = ""] = action.split(":");
      // One that does know a resource must be held to something else.
      expect((await isWildcardOnlyAction(service, call)) || needs !== undefined, action).toBe(true);
    }
  });

  it("are used: none outlives what it was written for", () => {
    const text = JSON.stringify(stack);
    expect(Object.keys(WIDE_ACTIONS).filter((action) => !text.includes(action))).toEqual([]);
    const names = new Set(stack.flatMap(({ name, props }) => [name, ...originsOf(props)]));
    expect(
      [...Object.keys(OPEN_INGRESS), ...Object.keys(PLAIN_HTTP)].filter((name) => !names.has(name)),
    ).toEqual([]);
  });

  it("are right about tags: what is left out has none", () => {
    expect([...UNTAGGED].filter(hasTags)).toEqual([]);
  });
});

describe("as a policy pack", () => {
  let pack: PolicyPackProcess;
  beforeAll(async () => {
    pack = await startPolicyPack(join(root, "infra/policies"));
  }, 60_000);
  afterAll(() => pack.close());

  it("is found by Pulumi's host, with all rules", async () => {
    expect((await pack.policies()).sort()).toEqual(RULES.map(({ name }) => name).sort());
  });

  it("stops a preview at each violation", async () => {
    for (const { rule, resources, message } of VIOLATIONS) {
      const needsAll = RULES.find(({ name }) => name === rule)?.needsAll;
      const answers = needsAll
        ? await pack.analyzeStack(resources)
        : (await Promise.all(resources.map((each) => pack.analyze(each)))).flat();
      const own = answers.filter(({ policy }) => policy === rule);
      expect(own.map((each) => each.message).join("\n"), rule).toMatch(message);
      expect(own.every(({ isMandatory }) => isMandatory)).toBe(true);
    }
  });

  it("lets the stack pass", async () => {
    expect((await Promise.all(stack.map((each) => pack.analyze(each)))).flat()).toEqual([]);
    expect(await pack.analyzeStack(stack)).toEqual([]);
  });

  it("stops no preview of a first deployment, when it cannot know yet", async () => {
    const { resources } = await recordStack({}, { preview: true });
    const answers = await Promise.all(resources.map((each) => pack.analyze(asResource(each))));
    const all = [...answers.flat(), ...(await pack.analyzeStack(resources.map(asResource)))];
    expect(all.filter(({ isMandatory }) => isMandatory)).toEqual([]);
    // What it cannot know it says: the policies of roles, which name what is not there yet.
    expect(all.map(({ message }) => message).join("\n")).toMatch(/can't run policy 'no-wide-actions'/);
  });
});

function originsOf(props: Resource["props"]): string[] {
  const origins = props["origins"];
  return Array.isArray(origins)
    ? origins.map((origin) => String((origin as { originId: string }).originId))
    : [];
}

/** Whether the arguments of a resource have tags, from its declaration: `aws:s3/bucket:Bucket` is s3/bucket.d.ts. */
function hasTags(type: string): boolean {
  const [, path = "", name = ""] = type.split(":");
  const file = join(root, "node_modules/@pulumi/aws", `${path}.d.ts`);
  expect(existsSync(file), file).toBe(true);
  const text = readFileSync(file, "utf8");
  return text.slice(text.indexOf(`interface ${name}Args`)).includes("    tags?:");
}
