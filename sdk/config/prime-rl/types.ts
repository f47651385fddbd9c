import type * as z from "zod";

/** Names and positions from the root of a configuration: `["orchestrator", "train", "env", 0, "args"]`. */
export type Path = readonly (string | number)[];

/** Where a value comes from. As text: `base.toml:12`, `--trainer.optim.lr`, `default`, `model.name (base.toml:3)`. */
export interface Origin {
  /** `shared` and `derived`: copied from, or computed out of, what `from` names. */
  kind: "default" | "file" | "flag" | "shared" | "derived";
  file?: string;
  /** From 1. */
  line?: number;
  /** From 1. */
  column?: number;
  /** As it was typed: `--trainer.optim.lr`. */
  flag?: string;
  /** The dotted path of the shared field, or the rule that derived the value. */
  from?: string;
}

/** Something to tell the user; its shape is part of the stable output of `--dry-run --json`. */
export interface Finding {
  code: string;
  severity: "error" | "warning";
  /** Dotted, in snake_case, with positions as numbers: `orchestrator.train.env.0.args`. */
  path: string;
  message: string;
  hint: string;
  file: string | null;
  line: number | null;
  column: number | null;
}

/** What a rule says about a value; where it stands follows from the value's origin. */
export interface Report {
  path: Path;
  /** Where it was said, where that is not at `path`. */
  at?: Path;
  /** Default: `invalid_input`. */
  code?: string;
  /** Default: `error`. */
  severity?: "error" | "warning";
  message: string;
  hint?: string;
}

/** The merged raw tree with an origin for every leaf; what rules read and change. */
export interface Draft {
  get(path: Path): unknown;
  has(path: Path): boolean;
  /** Replaces what is at `path`; sections on the way are made. */
  set(path: Path, value: unknown, origin: Origin): void;
  remove(path: Path): void;
  /** Of a section: the origin of the section itself, or of its first leaf that has one. */
  originOf(path: Path): Origin | undefined;
  report(finding: Report): void;
}

/** A command that takes a configuration. */
export interface Entrypoint {
  name: "rl" | "sft" | "inference" | "trainer" | "orchestrator" | "toy";
  /** A strict object. Aliases, help and short names are in the metadata of its fields: see `FieldMeta`. */
  schema: z.ZodType;
  /** On the merged raw tree, aliases resolved, before validation: shared fields, legacy names. */
  before?(draft: Draft): void;
  /** On the validated tree: what sets itself up, and rules over several fields. Changes go through `draft.set`. */
  after?(config: Record<string, unknown>, draft: Draft): void;
}

/** What `.meta()` of a field says to the engine. `description` is its help text. */
export interface FieldMeta {
  description?: string;
  /** Other spellings. A one-letter alias is also a short flag: `-s 5`. */
  aliases?: readonly string[];
  /** Of a discriminated union: the variant that a table without a tag means. */
  defaultVariant?: string;
}
