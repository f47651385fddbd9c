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

/** Notices a template that makes one prompt of all rows; shown row by row, it keeps the first. */
export class EqualPrompts {
  #first: string | undefined;
  #rows = 0;
  #differ: boolean;

  constructor(template: string | undefined) {
    this.#differ = template === undefined || hasPlaceholder(template);
  }

  add({ prompt }: DatasetRow): void {
    this.#rows++;
    if (this.#differ) return;
    const text = JSON.stringify(prompt);
    this.#differ = (this.#first ??= text) !== text;
  }

  /** @throws SpotterError `invalid_input` */
  refuse(): void {
    if (!this.#differ && this.#rows > 1) throw equalPrompts();
  }
}

function equalPrompts(): SpotterError {
  return new SpotterError(
    "invalid_input",
    "promptTemplate has no {input} or {column}: all prompts are equal.",
    {
      where: "promptTemplate",
      hint: "Write {input} for the input column, or {name} for any other.",
    },
  );
}
