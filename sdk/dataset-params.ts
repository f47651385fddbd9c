import { typeName } from "./schema/type-name.ts";
import { SpotterError } from "./schema/errors.ts";
import { nearestName } from "./schema/nearest-name.ts";

export type ParamTypes = Record<string, "string" | "boolean" | "strings" | readonly string[]>;

export interface DatasetParams {
  /** Column that fills `{input}` of the template. */
  inputColumn?: string;
  /** Column with the answer SFT learns. */
  outputColumn?: string;
  /** Column with texts that SFT learns whole, instead of answers to prompts: mid-training. */
  textColumn?: string;
  /**
   * The user's message; `{input}` and `{any_column}` are filled in, other braces stay. `{{name}}` writes
   * `{name}`. Default `{input}`.
   */
  promptTemplate?: string;
  /** Default: none. */
  systemPrompt?: string;
  /** Let the model's chat template write the prompt. False: the model continues the bare text. Default true. */
  applyChatTemplate?: boolean;
  /** What {@link Dataset.save} writes where the file's name does not say. Default jsonl. */
  outputFormat?: "jsonl" | "parquet";
  /** For people; shown with the run. */
  name?: string;
}

export const DATASET_PARAMS = {
  inputColumn: "string",
  outputColumn: "string",
  textColumn: "string",
  promptTemplate: "string",
  systemPrompt: "string",
  applyChatTemplate: "boolean",
  outputFormat: ["jsonl", "parquet"],
  name: "string",
} as const satisfies ParamTypes;

/** Checks options against their types; all that is wrong is named at once. */
export function checkParams(params: object, types: ParamTypes): void {
  const findings = Object.entries(params).flatMap(([key, value]) => {
    const type = Object.hasOwn(types, key) ? types[key] : undefined;
    if (type === undefined) {
      const near = nearestName(key, Object.keys(types));
      const known = Object.keys(types).join(", ");
      return [`  ${key}: unknown key; ${near ? `did you mean "${near}"?` : `known keys: ${known}`}`];
    }
    return value === undefined || fits(value, type)
      ? []
      : [`  ${key}: is ${kindOf(value)}, expected ${nameOf(type)}`];
  });
  if (findings.length === 0) return;
  throw new SpotterError("invalid_input", `The dataset's options are not valid:\n${findings.join("\n")}`, {
    hint: "Correct the keys named above.",
  });
}

function fits(value: unknown, type: ParamTypes[string]): boolean {
  if (type === "strings") return Array.isArray(value) && value.every((each) => typeof each === "string");
  return typeof type === "string" ? typeof value === type : type.includes(value as string);
}

function kindOf(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : typeName(value);
}

function nameOf(type: ParamTypes[string]): string {
  if (type === "strings") return "a list of strings";
  return typeof type === "string" ? type : type.map((each) => JSON.stringify(each)).join(" or ");
}

export function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
}
