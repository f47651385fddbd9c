import { cellText, oneLine, printable, widthOf } from "./visible.ts";

/** A name may be as long as its owner likes; the columns behind it must stay in sight. */
const MAX_CELL = 80;

/** Columns as wide as their widest cell; numbers to the right. Colours do not count. */
export function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = [header, ...rows].map((row) => row.map((cell) => cellText(String(cell), MAX_CELL)));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ""))));
  const isNumber = header.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"),
  );
  return cells.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0, isNumber[column] ?? false))
      .join("  ")
      .trimEnd(),
  );
}

/** Names and values below each other. */
export function pairs(values: Record<string, string | number | undefined>): string[] {
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...set.map(([name]) => widthOf(oneLine(name))));
  // Indented, a second line of a value cannot pass for another name.
  const indent = `\n${" ".repeat(width + 2)}`;
  return set.map(
    ([name, value]) =>
      `${pad(oneLine(name), width, false)}  ${printable(String(value)).replaceAll("\n", indent)}`,
  );
}

function pad(cell: string, width: number, toRight: boolean): string {
  const space = " ".repeat(Math.max(0, width - widthOf(cell)));
  return toRight ? space + cell : cell + space;
}
