/** What an answer is, once read. */
export type MathValue =
  | Expression
  | Relation
  /** `{1, 2}`, or without braces `1, 2`: the order says nothing. */
  | { kind: "set"; items: MathValue[] }
  /** `(1, 2, 3)`. */
  | { kind: "tuple"; items: MathValue[] }
  | Interval
  /** Sets and intervals; with `without`, less those. */
  | { kind: "union"; parts: MathValue[]; without: MathValue[] }
  | { kind: "matrix"; rows: MathValue[][] }
  /** Words, or what could not be read: compared by its letters. */
  | { kind: "text"; text: string };

/** Something with a value, in the syntax of mathjs. Numbers are names: `k0`, `k1` and so on. */
export interface Expression {
  kind: "expression";
  code: string;
  /** The numbers as they were written, by place. */
  numbers: readonly string[];
  /** Names of variables. */
  variables: readonly string[];
  /** A decimal number and nothing else: compared as far as it was written down. */
  isDecimal: boolean;
  /** A share in a hundred; `code` is already divided. */
  isPercent: boolean;
  hasImaginary: boolean;
}

/** `(1, 2)` is one, too: whether it is a point nobody can tell. */
export interface Interval {
  kind: "interval";
  from: MathValue;
  to: MathValue;
  isOpenLeft: boolean;
  isOpenRight: boolean;
}

/** `a < b <= c`: one operator fewer than parts. */
export interface Relation {
  kind: "relation";
  parts: MathValue[];
  operators: RelationOperator[];
}

export type RelationOperator = "=" | "<" | ">" | "<=" | ">=" | "!=";
