import { hash } from "node:crypto";
import type { AliasTarget } from "../../sdk/schema/alias.ts";

/** Hexadecimal digits that a double holds exactly. */
const DIGITS = 13;

/**
 * The target for a conversation: always the same for the same key and weights, and over all keys by weight.
 * A changed weight moves no more conversations than it must (weighted rendezvous hashing: the smallest of
 * exponential variables whose rates are the weights). Undefined where all weights are 0.
 */
export function pickTarget(targets: readonly AliasTarget[], key: string): AliasTarget | undefined {
  const [only] = targets;
  if (targets.length === 1) return only;
  let found: AliasTarget | undefined;
  let least = Infinity;
  for (const target of targets) {
    if (target.weight === 0) continue;
    const drawn = -Math.log(unitOf(`${target.model}\n${key}`)) / target.weight;
    if (drawn < least) [found, least] = [target, drawn];
  }
  return found;
}

/** A text as a number between 0 and 1, both exclusive. */
function unitOf(text: string): number {
  const drawn = Number.parseInt(hash("sha256", text, "hex").slice(0, DIGITS), 16);
  return (drawn + 0.5) / 16 ** DIGITS;
}
