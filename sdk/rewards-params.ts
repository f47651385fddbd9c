import * as z from "zod/mini";
import { rewardSetup } from "./schema/setups.ts";
import type { Tools } from "./environment-params.ts";
import type { Packed } from "./upload.ts";

/** Which rewards judge, and how. A path or URL alone means all rewards of that file. */
export type Rewards = URL | string | RewardsParams;

export interface RewardsParams {
  /** A module whose exports are made with `reward(...)`. Its imports are bundled. */
  file: URL | string;
  /** Exports to use. Default: every reward. */
  names?: string[];
  /** Time for one row. Default 10,000. */
  timeoutMs?: number;
  /** Share of verdicts that may be missing before all fails. Default 0.2. */
  maxMissingShare?: number;
}

const { code: _code, ...settings } = rewardSetup.shape;
const path = z.string().check(z.minLength(1, "is an empty text, expected the path of a rewards file"));
const url = z.custom<URL>((value) => value instanceof URL, "expected a path or a URL");

export const rewardsParam = z.union(
  [path, url, z.strictObject({ file: z.union([path, url]), ...settings })],
  {
    error: "expected the path or URL of a rewards file, or { file, names, timeoutMs, maxMissingShare }",
  },
);

/** The file that a rewards or tools parameter names. */
export function rewardsFile(rewards: Rewards | Tools): URL | string {
  return typeof rewards === "string" || rewards instanceof URL ? rewards : rewards.file;
}

/** The wire form, once the file is bundled. */
export function rewardsSetup(
  rewards: Rewards | Tools,
  packed: Packed<{ sha256: string }>,
  secrets: string[],
) {
  const { file: _file, ...rest } =
    typeof rewards === "string" || rewards instanceof URL ? { file: "" } : rewards;
  return { code: { ...packed.ref, secrets }, ...rest };
}
