import { describe, expect, it } from "vitest";
import { dataGuard } from "../../../../sdk/cli/aws/destroy-stack.ts";
import {
  backendOf,
  knowsStack,
  outputsOf,
  pulumiVersion,
  settingsOf,
} from "../../../../sdk/cli/aws/pulumi-state.ts";
import type { Finished, Pulumi } from "../../../../sdk/cli/aws/pulumi.ts";

/** A Pulumi that answers everything with the same. */
function answering(answer: Partial<Finished>): Pulumi {
  const finished = { code: 0, stdout: "", stderr: "", ...answer };
  return { folder: "/", env: {}, ask: async () => finished, show: async () => finished };
}

const ASKS: Record<string, (pulumi: Pulumi) => Promise<unknown>> = {
  version: pulumiVersion,
  config: (pulumi) => settingsOf(pulumi, "dev"),
  whoami: backendOf,
  "stack ls": (pulumi) => knowsStack(pulumi, "dev"),
  "stack output": (pulumi) => outputsOf(pulumi, "dev"),
  "stack export": (pulumi) => dataGuard(pulumi, "dev"),
};
const SECRET = "hunter2";

describe.each(Object.entries(ASKS))("what `pulumi %s` prints", (command, ask) => {
  it.each([
    ["nothing", ""],
    ["a page of a proxy", `<html>${SECRET}</html>`],
    [
      "something else",
      `{"value":{"${SECRET}":["${SECRET}"]},"url":{"a":"${SECRET}"},"a":{"value":["${SECRET}"]}}`,
    ],
    ["half of it", `{"deployment":{"resources":[{"urn":"${SECRET}`],
  ])("may be %s: a coded error that repeats none of it", async (_, stdout) => {
    await expect(ask(answering({ stdout }))).rejects.toMatchObject({
      code: "deploy_failed",
      message: expect.stringMatching(
        new RegExp(`^\`pulumi ${command}[^\`]*\` did not print what it should: `),
      ) as string,
      hint: expect.stringContaining("command -v pulumi") as string,
    });
    await expect(ask(answering({ stdout }))).rejects.not.toThrow(SECRET);
  });
});

it("is nothing of where nobody is logged in, and Pulumi's own words where it crashed", async () => {
  const crashed = answering({ code: null, stderr: "panic: runtime error\ngoroutine 1 [running]:\n" });
  expect([await settingsOf(crashed, "dev"), await backendOf(crashed)]).toEqual([{}, undefined]);
  await expect(outputsOf(crashed, "dev")).rejects.toMatchObject({
    code: "deploy_failed",
    message: expect.stringContaining("panic: runtime error") as string,
  });
});

it("guards nothing where nothing is left", async () => {
  const stdout = '{"version":3,"deployment":{"manifest":{}}}';
  expect(await dataGuard(answering({ stdout }), "dev")).toEqual({ state: "none", guarded: [] });
});
