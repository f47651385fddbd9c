import type { DatasetType } from "./config-schema.ts";
import type { Remark } from "./finding.ts";

/** What is known of a reward or tool, by its name. */
export interface CodeFacts {
  /** Runs inside the row's container. */
  sandbox: boolean;
  /** Keys of metadata that it cannot do without. */
  needs?: readonly string[];
}

/** What the rows of a project are checked against. */
export interface RowContext {
  kind: DatasetType;
  /** Rewards that exist; undefined: not known (no file, or one that cannot be read), so names are not checked. */
  rewards?: ReadonlyMap<string, CodeFacts> | undefined;
  /** Of those, where to say that they are missing. */
  rewardFiles: string;
  tools?: ReadonlyMap<string, CodeFacts> | undefined;
  toolFiles: string;
  /** More tools than these may come from a server. */
  hasMcp: boolean;
  /** That server runs inside the row's container. */
  isMcpInSandbox: boolean;
  /** Models that take no images; with any of them an image is an error. */
  blindModels: readonly string[];
  dockerfiles: ReadonlySet<string>;
  /** Tokens that a conversation may have. */
  window: number;
  /** Answers are compared as mathematics. */
  isMath: boolean;
  /** Rewards in TypeScript see numbers as JavaScript does. */
  hasTypeScript: boolean;
}

/** Takes what a check finds; a row without a finding allocates nothing. */
export type Report = (remark: Remark) => void;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "a text";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
