import type { Run } from "../../sdk/index.ts";

/** A metric of a run, in the order of its steps. */
export async function curveOf(run: Run, metric: string): Promise<number[]> {
  const values: number[] = [];
  for await (const { body } of run.events())
    if (body.type === "metrics" && body.metrics[metric] !== undefined) values.push(body.metrics[metric]);
  return values;
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}

/** A row of docs/learning-proofs.md: what, seed, seconds, and the curve, one value in `every`. */
export function proofRow(
  what: string,
  seed: number,
  seconds: number,
  curve: readonly number[],
  every = 10,
): string {
  const shown = curve.filter((_, step) => step % every === 0 || step === curve.length - 1);
  return `| ${what} | ${seed} | ${Math.round(seconds)} s | ${shown.map((each) => each.toFixed(2)).join(" ")} |\n`;
}
