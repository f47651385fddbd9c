import type { Row } from "../dataset-rows.ts";

type ColumnType = "STRING" | "BOOLEAN" | "INT32" | "DOUBLE" | "JSON";

/** Finds the narrowest Parquet type that holds every value of each column. */
export class ColumnTypes {
  /** Undefined while only nulls were seen. */
  readonly #types = new Map<string, ColumnType | undefined>();

  add(row: Row): void {
    for (const [name, value] of Object.entries(row)) {
      const type = typeOf(value);
      const before = this.#types.get(name);
      this.#types.set(
        name,
        before === undefined || type === undefined ? (before ?? type) : wider(before, type),
      );
    }
  }

  columns(): { name: string; type: ColumnType }[] {
    return [...this.#types].map(([name, type]) => ({ name, type: type ?? "STRING" }));
  }
}

/** Integers beyond 32 bits are exact as doubles up to 2^53, which is all that JSON can say. */
function typeOf(value: unknown): ColumnType | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "string") return "STRING";
  if (typeof value === "boolean") return "BOOLEAN";
  if (typeof value !== "number") return "JSON";
  return (value | 0) === value ? "INT32" : "DOUBLE";
}

function wider(a: ColumnType, b: ColumnType): ColumnType {
  if (a === b) return a;
  const areNumbers = [a, b].every((type) => type === "INT32" || type === "DOUBLE");
  return areNumbers ? "DOUBLE" : "JSON";
}
