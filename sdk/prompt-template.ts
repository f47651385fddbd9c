import { nearestName } from "./schema/parse.ts";
import { MissingColumn, type Row } from "./dataset-rows.ts";

const IDENTIFIER = /^[A-Za-z_][\w.-]*$/;

/**
 * Fills `{input}` with the value of the input column and `{column}` with any other. All other braces stay as
 * they are, so JSON needs no care; `{{name}}` is the text `{name}`. Throws a plain Error that the dataset
 * turns into one with file and line.
 */
export function fillTemplate(template: string, row: Row, inputColumn: string | undefined): string {
  // Only braces that were doubled on purpose are halved: JSON ends in "}}" without having begun with "{{".
  let doubled = 0;
  return template.replaceAll(/\{\{|\}\}|\{([^{}\n]+)\}/g, (match, name: string | undefined) => {
    if (match === "{{") {
      doubled++;
      return "{";
    }
    if (match === "}}") {
      if (doubled === 0) return match;
      doubled--;
      return "}";
    }
    if (name === undefined) return match;
    const column = name === "input" && inputColumn !== undefined ? inputColumn : name;
    if (!Object.hasOwn(row, column) && !IDENTIFIER.test(name)) return match;
    return columnText(row, column, name === "input" ? "inputColumn" : undefined);
  });
}

/** Whether anything of a row gets into a template's text. */
export function hasPlaceholder(template: string): boolean {
  return /\{[^{}\n]+\}/.test(template.replaceAll(/\{\{|\}\}/g, "  "));
}

/** A column as text: strings as they are, everything else as JSON. */
export function columnText(
  row: Row,
  column: string,
  option?: "inputColumn" | "outputColumn" | "textColumn",
): string {
  const value = Object.hasOwn(row, column) ? row[column] : undefined;
  if (value !== undefined && value !== null) return typeof value === "string" ? value : JSON.stringify(value);
  if (value === null) throw new Error(`the column "${column}" is null`);
  const columns = Object.keys(row);
  const near = nearestName(column, columns);
  const known = near ? `did you mean "${near}"?` : `its columns: ${columns.join(", ") || "none"}`;
  const fix = option ? `Set ${option} to one of` : "Use a column of the row";
  throw new MissingColumn(`no column "${column}"; ${known}`, `${fix}: ${columns.join(", ") || "none"}`);
}
