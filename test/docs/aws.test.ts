import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SETTING_NOTES, SETTINGS } from "../../infra/config/settings.ts";
import { GPU_INSTANCES } from "../../infra/config/gpu-instances.ts";
import { planOf } from "../../infra/preflight.ts";
import { root } from "./snippets.ts";

const page = readFileSync(join(root, "docs/aws.md"), "utf8");
const prices = JSON.parse(readFileSync(join(root, "functions/cost/prices.json"), "utf8")) as {
  regions: Record<string, { onDemandUsd: Record<string, number>; spotUsd: Record<string, number> }>;
};

/** Lines that the page must have and has not: they can be pasted into it. */
const missing = (lines: string[]) => lines.filter((line) => !page.split("\n").includes(line));

describe("what the page of AWS tells", () => {
  it("of settings is what the program reads", () => {
    const rows = Object.entries(SETTING_NOTES).map(([name, { description, monthly }]) => {
      const schema = SETTINGS.shape[name as keyof typeof SETTINGS.shape];
      const byDefault = [schema.parse(undefined)].flat().join(" ");
      return `| \`${name}\` | ${byDefault === "" ? "none" : `\`${byDefault}\``} | ${description} | ${monthly} |`;
    });
    expect(missing(rows)).toEqual([]);
  });

  it("of idle costs is what a deployment tells", () => {
    const rows = [
      ["the defaults", {}],
      ["`gateway` lambda", { "spotter:gateway": "lambda" }],
      ["the defaults, and `multiNode`", { "spotter:multiNode": "H100:8=2" }],
    ].map(([what, texts]) => {
      const told = planOf(texts as Record<string, string>);
      if (!("plan" in told)) throw new Error(JSON.stringify(told));
      const { idleCosts } = told.plan;
      const parts = idleCosts.map((each) => `${each.what} $${each.monthlyUsd.toFixed(2)}`).join(", ");
      const sum = idleCosts.reduce((total, { monthlyUsd }) => total + monthlyUsd, 0);
      return `| ${what as string} | **$${sum.toFixed(2)}** | ${parts} |`;
    });
    expect(missing(rows)).toEqual([]);
  });

  it("of hours is the list that estimates count with", () => {
    const { onDemandUsd, spotUsd } = prices.regions["us-east-1"] ?? { onDemandUsd: {}, spotUsd: {} };
    const usd = (value: number | undefined) => `$${(value ?? Number.NaN).toFixed(2)}`;
    const rows = GPU_INSTANCES.map(
      ({ type, gpu, gpus, vCpus }) =>
        `| \`${gpu}:${gpus}\` | ${type} | ${vCpus} | ${usd(onDemandUsd[type])} | ${usd(spotUsd[type])} |`,
    );
    expect(missing(rows)).toEqual([]);
  });
});
