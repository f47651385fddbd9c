import { closest, distance } from "fastest-levenshtein";
import type * as z from "zod";
import { RENAMED, SETTING_NOTES, SETTINGS, type Settings, type SettingName } from "./settings.ts";

/** Something wrong with one setting: where, what, and the command that mends it. */
export interface Finding {
  path: string;
  message: string;
  remedy: string;
}

const NAMES = Object.keys(SETTING_NOTES);
/** Farther than this a name is another word, not a slip. */
const MAX_DISTANCE = 4;

/** Checks texts as Pulumi keeps them; everything that is wrong at once. */
export function checkSettings(texts: Readonly<Record<string, string>>): {
  settings: Settings | undefined;
  findings: Finding[];
} {
  const { values, unreadable } = valuesOf(texts);
  const { data, error } = SETTINGS.safeParse(values, { reportInput: true });
  const issues = error?.issues ?? [];
  const findings = oneForEach([...unreadable, ...issues.flatMap(findingsOf), ...together(texts)]);
  return { settings: findings.length === 0 ? data : undefined, findings };
}

/** What is wrong in two ways is mended once. */
function oneForEach(findings: Finding[]): Finding[] {
  return findings.filter(({ path }, index) => findings.findIndex((each) => each.path === path) === index);
}

/** Pulumi keeps every value as text; lists as JSON. */
function valuesOf(texts: Readonly<Record<string, string>>) {
  const values = new Map<string, unknown>();
  const unreadable: Finding[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const type = NAMES.includes(name) ? SETTING_NOTES[name as SettingName].type : "string";
    const value = valueOf(type, text);
    if (value !== undefined) values.set(name, value);
    else
      unreadable.push({
        path: name,
        message: `${quoted(text)} is no ${nameOf(type)}`,
        remedy: setting(name),
      });
  }
  return { values: Object.fromEntries(values), unreadable };
}

function valueOf(type: string, text: string): unknown {
  if (type === "string") return text;
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  if (type === "integer") return /^-?\d+$/.test(text.trim()) ? Number(text) : undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function nameOf(type: string): string {
  return { integer: "whole number", boolean: "true or false", array: "list" }[type] ?? "text";
}

function findingsOf(issue: z.core.$ZodIssue): Finding[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map(unknownSetting);
  const path = issue.path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`));
  const where = path.join("").replace(/^\./, "");
  const isTwice = issue.code === "custom" && issue.params?.["isTwice"] === true;
  const remedy = isTwice ? `pulumi config rm --path 'spotter:${where}'` : setting(where);
  const said = { path: where, remedy };
  if (issue.code !== "invalid_value") return [{ ...said, message: `${issue.message}${got(issue.input)}` }];
  const known = issue.values.map(String);
  const near = typeof issue.input === "string" ? nearest(issue.input, known) : undefined;
  return [
    {
      ...said,
      message: `must be one of ${known.join(", ")}${got(issue.input)}${near === undefined ? "" : `; did you mean ${near}?`}`,
      ...(near !== undefined && { remedy: setting(where, near) }),
    },
  ];
}

function unknownSetting(name: string): Finding {
  const renamed = Object.hasOwn(RENAMED, name) ? RENAMED[name] : undefined;
  const near = nearest(name, NAMES);
  const hint = renamed ?? (near === undefined ? `there are ${NAMES.join(", ")}` : `did you mean ${near}?`);
  return { path: name, message: `is no setting; ${hint}`, remedy: `pulumi config rm spotter:${name}` };
}

/** What is right each by itself and wrong together. */
function together(texts: Readonly<Record<string, string>>): Finding[] {
  return [...withoutGpus(texts), ...halfDomain(texts)];
}

function withoutGpus({ engineImages = "[]", gpuClasses = '["L4:1"]' }: Readonly<Record<string, string>>) {
  const [images, classes] = [engineImages, gpuClasses].map((text) => valueOf("array", text) as unknown[]);
  if (images === undefined || images.length === 0 || classes?.length !== 0) return [];
  const remedy = setting("gpuClasses[0]", "H100:8");
  return [{ path: "engineImages", message: "need GPUs, and gpuClasses has none", remedy }];
}

function halfDomain({ domain = "", hostedZoneId = "" }: Readonly<Record<string, string>>): Finding[] {
  if ((domain === "") === (hostedZoneId === "")) return [];
  const [missing, given] = domain === "" ? ["domain", "hostedZoneId"] : ["hostedZoneId", "domain"];
  const example = missing === "domain" ? "gym.example.com" : "Z0123456789ABCDEFGHIJ";
  return [{ path: missing, message: `is missing: ${given} needs it`, remedy: setting(missing, example) }];
}

function nearest(text: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const wanted = text.toLowerCase();
  const near = closest(
    wanted,
    names.map((name) => name.toLowerCase()),
  );
  return distance(wanted, near) <= MAX_DISTANCE
    ? names.find((name) => name.toLowerCase() === near)
    : undefined;
}

/** The command that sets it, to an example or its default. */
function setting(path: string, value?: string): string {
  const shape: Record<string, z.ZodType | undefined> = SETTINGS.shape;
  const byDefault: unknown = shape[path]?.parse(undefined);
  const example = value ?? [byDefault].flat().map(String)[0] ?? "";
  const key = `spotter:${path}${Array.isArray(byDefault) ? "[0]" : ""}`;
  if (!key.includes("[")) return `pulumi config set ${key} ${example || "''"}`;
  const item = key.startsWith("spotter:engineImages") ? "slime=REPOSITORY@sha256:DIGEST" : "L4:1";
  return `pulumi config set --path '${key}' ${value ?? item}`;
}

function got(input: unknown): string {
  return input === undefined ? "" : `, not ${quoted(input)}`;
}

function quoted(value: unknown): string {
  return JSON.stringify(value).slice(0, 80);
}
