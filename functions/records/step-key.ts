/** Steps as sort keys: equal length, so that they order as numbers. */
export function stepKey(step: number): string {
  return String(step).padStart(9, "0");
}
