import type { Draft, Path } from "../types.ts";
import { pathText } from "../provenance.ts";
import { isTable } from "../walk.ts";
import { isSame } from "./scope.ts";

interface SharedField {
  from: string;
  to: readonly string[];
  /** A shared field with a default says nothing while it has it: then a component's own value goes before. */
  standard?: unknown;
}

const both = (path: string) => [`trainer.${path}`, `orchestrator.${path}`];
const all = (path: string) => [...both(path), `inference.${path}`];

const FIELDS: readonly SharedField[] = [
  { from: "model.name", to: all("model.name") },
  { from: "model.vlm", to: all("model.vlm") },
  { from: "log.level", to: all("log.level") },
  { from: "log.json_logging", to: all("log.json_logging"), standard: false },
  { from: "ckpt.output_dir", to: ["trainer.ckpt.output_dir"] },
  ...["interval", "resume_step", "keep_last", "keep_interval"].map((name) => ({
    from: `ckpt.${name}`,
    to: both(`ckpt.${name}`),
  })),
  ...["project", "entity", "name", "group", "tags"].map((name) => ({
    from: `wandb.${name}`,
    to: both(`wandb.${name}`),
  })),
  { from: "wandb.offline", to: both("wandb.offline"), standard: false },
  { from: "tokenizer.name", to: both("tokenizer.name") },
  { from: "tokenizer.trust_remote_code", to: both("tokenizer.trust_remote_code") },
  {
    from: "tokenizer.chat_template",
    to: [...both("tokenizer.chat_template"), "inference.model.chat_template"],
  },
  { from: "max_steps", to: both("max_steps") },
  { from: "seq_len", to: ["trainer.model.seq_len", "orchestrator.seq_len"] },
  { from: "slurm", to: ["inference.slurm"] },
];

/** Tables that turn both sides on. */
const BLOCKS = ["ckpt", "wandb"];

const path = (text: string): Path => text.split(".");

/** Where a null has to be said: a shared value would stand there if it was left out. */
export function sharedInto(config: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const at = (text: string) =>
    path(text).reduce<unknown>((held, step) => (isTable(held) ? held[step] : undefined), config);
  const tables = BLOCKS.map((key) => ({ from: key, to: both(key) }));
  return new Set(
    [...FIELDS, ...tables].filter(({ from }) => !isUnset(at(from))).flatMap(({ to }) => [...to]),
  );
}

/**
 * Carries what is said for all components to each that does not say it itself, and reports every place where the
 * two differ. Texts are converted by now, so "20" and 20 are the same.
 */
export function shareFields(draft: Draft): void {
  for (const field of FIELDS) share(draft, field);
  shareOutputDir(draft);
  shareBroadcast(draft);
  const template = draft.get(["trainer", "tokenizer", "chat_template"]);
  if (template !== undefined && template !== null)
    fill(draft, "trainer.tokenizer.chat_template", "inference.model.chat_template", template);
  // An empty [ckpt] or [wandb] turns both sides on.
  for (const key of BLOCKS)
    if (isTable(draft.get([key]))) for (const to of both(key)) fill(draft, key, to, {});
}

function share(draft: Draft, { from, to, standard }: SharedField): void {
  const value = draft.get(path(from));
  if (value === undefined || value === null) return;
  for (const target of to) {
    const own = saidAt(draft, path(target));
    if (isUnset(own) || isSame(own, value)) fill(draft, from, target, value);
    else if (standard !== undefined && isSame(value, standard)) goesBefore(draft, from, target);
    else conflict(draft, from, target);
  }
}

/** What a file, a flag or a rule said there; not the type that a table of a union has without anybody saying it. */
const saidAt = (draft: Draft, target: Path): unknown =>
  draft.originOf(target) === undefined ? undefined : draft.get(target);

const isUnset = (value: unknown) => value === undefined || value === null;

/** Puts a shared value into a component that is there and says nothing, not even that it is null. */
function fill(draft: Draft, from: string, to: string, value: unknown): void {
  const target = path(to);
  const isSaid = draft.has(target) && draft.originOf(target) !== undefined;
  if (isSaid || !isTable(draft.get(target.slice(0, 1)))) return;
  for (let length = 2; length < target.length; length++) {
    const around = target.slice(0, length);
    if (draft.has(around) && !isTable(draft.get(around))) return;
  }
  draft.set(target, value, sharedOrigin(draft, from));
}

function sharedOrigin(draft: Draft, from: string) {
  const origin = draft.originOf(path(from));
  return { ...origin, kind: "shared", from } as const;
}

function conflict(draft: Draft, from: string, target: string): void {
  draft.report({
    path: path(target),
    message: `${target} is set, and so is ${from}, to something else.`,
    hint: `Set it in one place: ${from} is for every component, ${target} for this one.`,
  });
}

function goesBefore(draft: Draft, from: string, target: string): void {
  draft.report({
    path: path(target),
    severity: "warning",
    message: `${target} is set, and ${from} does not change it.`,
    hint: `Remove ${target} to follow ${from}.`,
  });
}

/** The orchestrator's folder lies in the run's: `run_default`, unless another name is given. */
function shareOutputDir(draft: Draft): void {
  const folder = draft.get(["output_dir"]);
  if (typeof folder !== "string") return;
  const trainer = draft.get(["trainer", "output_dir"]);
  if (typeof trainer === "string" && plainFolder(trainer) !== plainFolder(folder))
    conflict(draft, "output_dir", "trainer.output_dir");
  const orchestrator = draft.get(["orchestrator", "output_dir"]);
  if (typeof orchestrator === "string" && parentOf(orchestrator) !== plainFolder(folder))
    conflict(draft, "output_dir", "orchestrator.output_dir");
  fill(draft, "output_dir", "trainer.output_dir", folder);
  const run = plainFolder(folder) === "." ? "run_default" : `${plainFolder(folder)}/run_default`;
  fill(draft, "output_dir", "orchestrator.output_dir", run.replace(/^\/\//, "/"));
}

/** Without a slash at its end; no name at all is the working folder. */
export const plainFolder = (folder: string): string => folder.replace(/(?<=.)\/+$/, "") || ".";

/** `outputs/run_default` → `outputs`; a name alone lies in `.`. */
export function parentOf(folder: string): string {
  const plain = plainFolder(folder);
  const slash = plain.lastIndexOf("/");
  return slash < 0 ? "." : plain.slice(0, slash) || "/";
}

const BROADCAST = { type: "filesystem", port: 29501, timeout: 1200, quantize_in_weight_transfer: false };

/** `[weight_broadcast]` is for all: what a component says of the same has to agree. */
function shareBroadcast(draft: Draft): void {
  const shared = draft.get(["weight_broadcast"]);
  if (!isTable(shared)) return;
  for (const component of ["trainer", "orchestrator", "inference"])
    for (const [key, standard] of Object.entries(BROADCAST)) {
      const own = saidAt(draft, [component, "weight_broadcast", key]);
      const target = pathText([component, "weight_broadcast", key]);
      if (!isUnset(own) && !isSame(own, shared[key] ?? standard))
        conflict(draft, `weight_broadcast.${key}`, target);
    }
  const type = shared["type"] ?? BROADCAST.type;
  for (const component of ["trainer", "orchestrator", "inference"])
    fill(draft, "weight_broadcast.type", `${component}.weight_broadcast.type`, type);
}
