/** Lists and objects within each other in one row. Deeper ones meet the limits of the stack: here, in rewards, in Python. */
export const MAX_ROW_DEPTH = 500;

/** Whether a row of so many characters is nested too deep; of most their length says that they are not. */
export function isTooDeep(row: unknown, characters: number): boolean {
  return characters > 2 * MAX_ROW_DEPTH && exceeds(row, MAX_ROW_DEPTH);
}

function exceeds(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const parts = value as Record<string, unknown>;
  for (const key in parts) if (exceeds(parts[key], levels - 1)) return true;
  return false;
}
