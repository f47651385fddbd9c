/**
 * The words the haikus are about. Both lists are in the base model's training data; the reinforcement learning
 * sees only the training words, and every score is measured on the held-out ones.
 *
 * @module
 */
import { readFileSync } from "node:fs";

/** Where the two lists live, as datasets with the column `keywords`. */
export const trainFile = new URL("train.jsonl", import.meta.url);
export const heldOutFile = new URL("heldout.jsonl", import.meta.url);

export const trainWords: readonly string[] = readKeywords(trainFile);
export const heldOutWords: readonly string[] = readKeywords(heldOutFile);

/** The tutorial's prompt, as a template over a row. */
export const promptTemplate = "Write a haiku about {input}.";

function readKeywords(file: URL): string[] {
  const rows = readFileSync(file, "utf8").trimEnd().split("\n");
  return rows.map((row) => (JSON.parse(row) as { keywords: string }).keywords);
}
