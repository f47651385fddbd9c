import { InvalidArgumentError } from "commander";
import type { Selection } from "../../config/project-folder/play/select-entries.ts";
import { SpotterError } from "../../schema/errors.ts";

/** What the words of `spotter test` come to. */
export interface TestOptions {
  dir: string;
  num?: number;
  entry?: number[];
  all?: boolean;
  model?: string;
  seed: number;
  repeat: number;
  threshold: number;
  rewardsOnly?: boolean;
  secret?: string[];
  allowPython?: boolean;
  verbose?: boolean;
  save: boolean;
  json?: boolean;
}

/** `0,1,2`, also several times. */
export function entryNumbers(text: string, before: number[] = []): number[] {
  const numbers = text.split(",").map((each) => each.trim());
  if (numbers.some((each) => !/^\d{1,15}$/.test(each)))
    throw new InvalidArgumentError("Rows are counted from 0 and written 0,1,2.");
  return [...before, ...numbers.map(Number)];
}

/** A whole number from 1 on. */
export function count(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 1_000_000)
    throw new InvalidArgumentError("It must be a whole number from 1 to 1000000.");
  return value;
}

/** A whole number from 0 on. */
export function seedNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text) || Number(text) >= 2 ** 32)
    throw new InvalidArgumentError("It must be a whole number from 0 to 4294967295.");
  return Number(text);
}

/**
 * Which rows are meant: one of `-n`, `--entry` and `--all`; without a word one row, and with `--rewards-only` all.
 *
 * @throws SpotterError `invalid_input` where two of them disagree.
 */
export function selectionOf({ num, entry, all, seed, rewardsOnly }: TestOptions): Selection {
  const given = [num !== undefined && "-n", entry && "--entry", all && "--all"].filter(Boolean);
  if (given.length > 1)
    throw new SpotterError("invalid_input", `${given.join(" and ")} say different things.`, {
      where: given.join(", "),
      hint: "Give one: -n takes rows by chance, --entry by their place, --all every one.",
    });
  if (entry) return { entries: entry };
  if (all || (rewardsOnly && num === undefined)) return { all: true };
  return { count: num ?? 1, seed };
}
