import type { Run } from "../../schema/run.ts";
import type { RunSpec } from "../../schema/run-spec.ts";

/** One thing of several runs, in their order. */
export interface Compared<T> {
  name: string;
  values: (T | undefined)[];
}

export interface RunComparison {
  /** What their specs say differently, by dotted path. Equal settings are left out. */
  settings: Compared<unknown>[];
  /** The latest figures of all of them. */
  metrics: Compared<number>[];
}

/** Says nothing about how a run went, or nothing that its other settings do not say. */
const LEFT_OUT = ["name", "tags", "webhooks"];

/** What sets runs apart, and what came of it. */
export function compareRuns(runs: readonly { record: Run; spec: RunSpec }[]): RunComparison {
  const specs = runs.map(({ spec }) => leaves(spec));
  const paths = [...new Set(specs.flatMap((spec) => [...spec.keys()]))];
  const settings = paths
    .filter((path) => !LEFT_OUT.includes(path.split(".")[0] ?? ""))
    .map((name) => ({ name, values: specs.map((spec) => spec.get(name)) }))
    .filter(({ values }) => new Set(values.map((value) => JSON.stringify(value))).size > 1);
  const names = [...new Set(runs.flatMap(({ record }) => Object.keys(record.metrics)))];
  const metrics = names.map((name) => ({ name, values: runs.map(({ record }) => record.metrics[name]) }));
  return { settings, metrics };
}

/** Lists are one value: that an item is missing moves all behind it. */
function leaves(value: unknown, path: readonly string[] = []): Map<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return new Map<string, unknown>(value === undefined ? [] : [[path.join("."), value]]);
  return new Map(Object.entries(value).flatMap(([key, each]) => [...leaves(each, [...path, key])]));
}
