import type { Command } from "commander";
import { Run } from "../../run.ts";
import { SpotterError } from "../../schema/errors.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { compareRuns } from "../render/compare-runs.ts";
import { figure } from "../render/run-facts.ts";
import { table } from "../render/table.ts";
import { RUN_ID, verb } from "../verb.ts";

export function runCompareVerb(context: CliContext): Command {
  return verb(
    "compare <ids...>",
    "Show what runs were told differently, and what came of it",
    [
      "spotter run compare run-EXAMPLE run-OTHER",
      "spotter run compare run-EXAMPLE run-OTHER run-THIRD --json",
    ],
    { ids: `two or more, each ${RUN_ID}` },
  ).action(async (ids: string[], options: { json?: boolean }) => {
    if (ids.length < 2) {
      throw new SpotterError("invalid_input", "One run alone cannot be compared.", {
        where: "ids",
        hint: "Name two or more; `spotter run list` prints their ids.",
      });
    }
    const { signal } = context;
    const runs = await Promise.all(ids.map((id) => Run.get(id, { signal })));
    const { settings, metrics } = compareRuns(runs);
    if (options.json)
      return printJson(context, { runs: runs.map(({ record }) => record), settings, metrics });
    const rows = [
      ["name", ...runs.map(({ record }) => record.name ?? "")],
      ["state", ...runs.map(({ record }) => record.state)],
      ["step", ...runs.map(({ record }) => `${record.step}/${record.steps}`)],
      ...settings.map(({ name, values }) => [name, ...values.map(settingText)]),
      ...metrics.map(({ name, values }) => [name, ...values.map(metricText)]),
    ];
    for (const line of table(["", ...ids], rows)) print(context, line);
    if (settings.length === 0) print(context, "\nThey were told the same.");
  });
}

function settingText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function metricText(value: number | undefined): string {
  return value === undefined ? "" : String(figure(value));
}
