import type { DatasetRow } from "./schema/dataset.ts";
import { SpotterError } from "./schema/errors.ts";
import { invalidRow, placeOf } from "./dataset-rows.ts";
import { jsonFault } from "./json-fault.ts";
import { hasPlaceholder } from "./prompt-template.ts";

/** What no JSON can hold. Numbers that are not finite are common in files, in columns nobody uses: there they are null. */
export function refuseFault(formatted: DatasetRow, where: string): DatasetRow {
  const fault = jsonFault(formatted.row);
  if (!fault || (fault.isNumber && placeOf(formatted.row) !== undefined)) return formatted;
  throw invalidRow(where, `the column "${fault.path}" ${fault.why}`);
}

export function refuseEqualPrompts(rows: readonly DatasetRow[], template: string | undefined): void {
  if (template === undefined || rows.length < 2 || hasPlaceholder(template)) return;
  const prompts = new Set(rows.map(({ prompt }) => JSON.stringify(prompt)));
  if (prompts.size > 1) return;
  throw new SpotterError(
    "invalid_input",
    "promptTemplate has no {input} or {column}: all prompts are equal.",
    {
      where: "promptTemplate",
      hint: "Write {input} for the input column, or {name} for any other.",
    },
  );
}
