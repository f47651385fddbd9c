import { createHash } from "node:crypto";

/**
 * A seed of 48 bits that depends on every part and on their order; neighbouring parts give unrelated seeds.
 *
 * @example
 * seedOf(run.seed, "sample", step, index);
 */
export function seedOf(...parts: readonly (number | string)[]): number {
  return createHash("sha256").update(parts.join("\0")).digest().readUIntBE(0, 6);
}
