import { ENTRYPOINTS } from "../entrypoints.ts";
import { isSame } from "../rules/scope.ts";
import type { Finding } from "../types.ts";
import { below, fieldIn, rootOf, sectionsIn, type Shape } from "../walk.ts";
import { RL_FIELDS, SFT_FIELDS, type FieldRule } from "./fields.ts";

export type EmbeddedEntrypoint = "rl" | "sft";

const RULES: Readonly<Record<EmbeddedEntrypoint, readonly FieldRule[]>> = { rl: RL_FIELDS, sft: SFT_FIELDS };

/**
 * What a setting means on the embedded engine. Positions in lists do not matter.
 *
 * @example
 * ruleOf("rl", "trainer.model.attn")?.class; // "irrelevant"
 */
export function ruleOf(name: EmbeddedEntrypoint, path: string): FieldRule | undefined {
  const steps = path.split(".").filter((step) => !/^\d+$/.test(step));
  return RULES[name].find(({ pattern }) => fits(pattern.split("."), steps));
}

function fits(pattern: readonly string[], steps: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  // All below, and the table itself.
  if (first === "**") return true;
  if (first === undefined) return steps.length === 0;
  if (steps.length === 0) return false;
  // What is in a free table belongs to the setting that it is.
  return (first === "*" || first === steps[0]) && (rest.length === 0 || fits(rest, steps.slice(1)));
}

/**
 * What to tell about a resolved configuration before it runs on the embedded engine: an error for each refused
 * setting that somebody set to something else than it is anyway, and one warning that lists what changes nothing.
 *
 * @param provenance As `resolve` gives it: path → where the value comes from.
 * @example
 * const { config, provenance } = await resolve(ENTRYPOINTS.rl, ["@", "rl.toml"]);
 * if (config) embeddedFindings("rl", config, provenance);
 */
export function embeddedFindings(
  name: EmbeddedEntrypoint,
  config: Readonly<Record<string, unknown>>,
  provenance: Readonly<Record<string, string>>,
): Finding[] {
  const given = Object.entries(provenance).filter(([, from]) => isGiven(from));
  const classed = given.map(([path, from]) => ({ path, from, rule: ruleOf(name, path) }));
  const refused = classed.filter(
    ({ path, rule }) => rule?.class === "refused" && !isStandard(name, config, path),
  );
  const idle = classed.filter(({ rule }) => rule?.class === "irrelevant").map(({ path }) => path);
  return [
    ...refused.map(({ path, from, rule }) => refusal(path, from, rule?.note ?? "")),
    ...(idle.length > 0 ? [idleness(idle)] : []),
  ];
}

/** Whether a value is what it would be if nobody said anything. */
function isStandard(name: EmbeddedEntrypoint, config: unknown, path: string): boolean {
  let shape: Shape | undefined = rootOf(ENTRYPOINTS[name].schema);
  let value = config;
  let standard: unknown;
  for (const step of path.split(".").map((each) => (/^\d+$/.test(each) ? Number(each) : each))) {
    const sections: ReturnType<typeof sectionsIn> = shape && sectionsIn(shape);
    standard = sections && fieldIn(sections, String(step), value)?.default;
    if (sections?.kind === "union" && step === sections.tag) standard = sections.defaultVariant;
    shape = shape && below(shape, step, value);
    value = (value as Record<string | number, unknown> | null)?.[step];
  }
  return isSame(value, standard);
}

/** Said in a file or by a flag, rather than shared, derived or a default. */
const isGiven = (from: string) => from.startsWith("--") || /^[^(]+:\d+$/.test(from);

function refusal(path: string, from: string, note: string): Finding {
  const [, file = null, line] = /^(.+):(\d+)$/.exec(from) ?? [];
  return {
    code: "route_unsupported",
    severity: "error",
    path,
    message: `The embedded engine has no ${path}${file === null ? ` (${from})` : ""}.`,
    hint: `Remove it: ${note}.`,
    file,
    line: line === undefined ? null : Number(line),
    column: null,
  };
}

function idleness(paths: readonly string[]): Finding {
  return {
    code: "setting_ignored",
    severity: "warning",
    path: paths[0] ?? "",
    message: `${paths.length === 1 ? "This setting changes" : "These settings change"} nothing on the embedded engine: ${paths.join(", ")}.`,
    hint: "What runs on a GPU host reads them; nothing needs to be done.",
    file: null,
    line: null,
    column: null,
  };
}
