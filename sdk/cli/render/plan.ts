import { leavesOf } from "../../config/project-folder/plan.ts";
import type { Colors } from "../context.ts";
import { pairs } from "./table.ts";

/** A resolved spec as lines: key, value, whence it comes. */
export function planLines(
  spec: Readonly<Record<string, unknown>>,
  provenance: Readonly<Record<string, string>>,
  { dim }: Colors,
): string[] {
  const shown = leavesOf(spec).map(([path, value]): [string, string] => {
    const source = provenance[path] ?? "default";
    return [path, `${JSON.stringify(value)}  ${dim(source)}`];
  });
  return pairs(Object.fromEntries(shown));
}
