import { nearestName } from "../nearest-name.ts";

/** An option of an engine's command line, as scripts/engine-options.py reads it out of the engine's own sources. */
export interface EngineOption {
  /** `flag` takes no value, `switch` is also there as --no-NAME, `value` takes one, `values` several. */
  kind: string;
  type?: string;
  choices?: readonly unknown[];
}

/** Every option that an engine takes, by its name without dashes. */
export interface OptionList {
  /** Versions and commits that they are of. */
  sources: readonly string[];
  options: Readonly<Record<string, EngineOption>>;
}

export type OptionValue = string | number | boolean | readonly (string | number)[];

/** What is wrong with an option, at the name that the user wrote. */
export interface OptionFault {
  name: string;
  message: string;
  hint?: string;
}

/** `rolloutNumGpus` and `rollout_num_gpus` are `rollout-num-gpus`. */
export function optionName(name: string): string {
  return name
    .replace(/^--/, "")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** What is known of an option; undefined for what is none, whatever objects inherit. */
export function optionOf(list: OptionList, name: string): EngineOption | undefined {
  const own = optionName(name);
  return Object.hasOwn(list.options, own) ? list.options[own] : undefined;
}

/** What the engine would not take: names that it does not know, values that the option cannot have. */
export function optionFaults(list: OptionList, given: Readonly<Record<string, OptionValue>>): OptionFault[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const option = optionOf(list, name);
    if (option === undefined) return [unknownOption(list, name)];
    const wrong = wrongValue(option, value);
    return wrong === undefined ? [] : [{ name, message: `${name} ${wrong}` }];
  });
}

function unknownOption(list: OptionList, name: string): OptionFault {
  const meant = nearestName(optionName(name), Object.keys(list.options));
  return {
    name,
    message: `${name} is no option of ${list.sources[0] ?? "this engine"}`,
    ...(meant === undefined ? {} : { hint: `Did you mean ${meant}?` }),
  };
}

function wrongValue(option: EngineOption, value: OptionValue): string | undefined {
  const isMany = typeof value === "object";
  if (option.kind === "flag" || option.kind === "switch")
    return typeof value === "boolean" ? undefined : "is on or off: give true or false";
  // Engines differ in how they write what is on; a boolean is passed on as a word only where they list it.
  if (typeof value === "boolean" && option.choices === undefined && option.type !== undefined)
    return `takes a value of type ${option.type}`;
  if (isMany && option.kind !== "values") return "takes one value";
  const each = isMany ? value : [value];
  if (option.type === "int" && !each.every(isWhole)) return "must be a whole number";
  if (option.type === "float" && !each.every(isNumber)) return "must be a number";
  const words = each.map(String);
  if (words.some((word) => word.includes("\0"))) return "has a character that no command line can hold";
  // argparse would take it for the next option.
  if (words.some((word) => /^-(?![\d.])\S/.test(word))) return "begins with a dash, as options do";
  const { choices } = option;
  if (choices !== undefined && !each.every((one) => choices.map(String).includes(String(one))))
    return `must be one of ${choices.map(String).join(", ")}`;
  return undefined;
}

/** As Python's `int` reads it: `1e3` is none, and neither is what JavaScript writes as `1e+21`. */
function isWhole(value: string | number | boolean): boolean {
  return /^[+-]?\d+$/.test(String(value));
}

function isNumber(value: string | number | boolean): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(String(value)) && Number.isFinite(Number(value));
}

/**
 * The words of a command line, in the order given. An option that is off is left out, or written `--no-NAME` where the
 * engine has that.
 *
 * @example
 * toArgv(list, { colocate: true, "num-rollout": 10 }); // ["--colocate", "--num-rollout", "10"]
 */
export function toArgv(list: OptionList, given: Readonly<Record<string, OptionValue>>): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const own = optionName(name);
    const kind = optionOf(list, own)?.kind;
    if (kind === "flag") return value === true ? [`--${own}`] : [];
    if (kind === "switch") return [value === true ? `--${own}` : `--no-${own}`];
    const words = typeof value === "object" ? value : [value];
    return [`--${own}`, ...words.map(String)];
  });
}
