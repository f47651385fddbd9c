import { nearestName } from "./schema/parse.ts";
import type { Row } from "./dataset.ts";

/**
 * Fills `{input}` with the value of the input column and `{column}` with any other; `{{` and `}}` are braces.
 * Throws a plain Error that the dataset turns into one with file and line.
 */
export function fillTemplate(template: string, row: Row, inputColumn: string | undefined): string {
  return template.replaceAll(/\{\{|\}\}|\{([A-Za-z_][\w.-]*)\}/g, (match, name: string | undefined) => {
    if (name === undefined) return match.charAt(0);
    const column = name === "input" && inputColumn !== undefined ? inputColumn : name;
    return columnText(row, column);
  });
}

/** A column as text: strings as they are, everything else as JSON. */
export function columnText(row: Row, column: string): string {
  const value = Object.hasOwn(row, column) ? row[column] : undefined;
  if (value !== undefined && value !== null) return typeof value === "string" ? value : JSON.stringify(value);
  const near = nearestName(column, Object.keys(row));
  const known = near ? `did you mean "${near}"?` : `its columns: ${Object.keys(row).join(", ") || "none"}`;
  throw new Error(value === null ? `the column "${column}" is null` : `no column "${column}"; ${known}`);
}
