import * as pulumi from "@pulumi/pulumi";
import { beforeAll, expect, it } from "vitest";
import { readConfig } from "../../infra/config.ts";

beforeAll(async () => {
  await pulumi.runtime.setMocks(
    { newResource: () => ({ id: undefined, state: {} }), call: () => ({}) },
    "spotter",
    "prod",
  );
});

it("has a default for everything", () => {
  pulumi.runtime.setAllConfig({});
  expect(readConfig()).toMatchObject({
    logRetentionDays: 30,
    protectData: true,
    tags: { "spotter:stack": "prod", "spotter:project": "spotter" },
  });
});

it("takes what the stack sets", () => {
  pulumi.runtime.setAllConfig({ "spotter:logRetentionDays": "7", "spotter:protectData": "false" });
  expect(readConfig()).toMatchObject({ logRetentionDays: 7, protectData: false });
});

it("refuses a time that CloudWatch does not know, before anything is created", () => {
  pulumi.runtime.setAllConfig({ "spotter:logRetentionDays": "31" });
  expect(() => readConfig()).toThrow(/logRetentionDays is 31.*pulumi config set/);
});
