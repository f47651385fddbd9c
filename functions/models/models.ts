import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobFile } from "../../sdk/schema/job.ts";
import {
  modelName,
  SHIPPED_MODELS,
  type ModelFile,
  type ModelRecord,
  type ModelRef,
  type PushModel,
  type PushModelReply,
} from "../../sdk/schema/model.ts";
import { nearestName } from "../../sdk/schema/nearest-name.ts";
import { jobFile } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import type { DocumentKey } from "../ports/store.ts";
import { putContent } from "../records/content.ts";
import { directUploadOf } from "../records/direct-upload.ts";
import { sha256Of } from "../records/hash.ts";
import { collect, update } from "../records/update.ts";

export const MODELS = "models";

interface Manifest {
  v: 1;
  files: ModelFile[];
  /** When somebody last wanted to store them. */
  announcedAtMs?: number;
}

/**
 * Takes note of the files of a model and says which are missing; once none is, the name means these weights.
 * Asking again is harmless, so an upload that was cut off goes on where it ended.
 *
 * @throws SpotterError `conflict` if the name means other weights, `model_corrupt` without config or weights.
 */
export function pushModel(control: Control, push: PushModel): Promise<PushModelReply> {
  return control.gate.begin(() => accept(control, push));
}

async function accept(control: Control, push: PushModel): Promise<PushModelReply> {
  const files = [...push.files].sort((a, b) => (a.path < b.path ? -1 : 1));
  checkWhole(push.name, files);
  const sha256 = manifestHash(files);
  refuseOther(push, sha256, (await findModel(control, push.name))?.sha256);
  const announcedAtMs = control.clock.now();
  await control.store.put(manifestKey(sha256), { v: 1, files, announcedAtMs } satisfies Manifest);
  const missing: string[] = [];
  const uploads: NonNullable<PushModelReply["uploads"]> = {};
  for (const file of files) {
    const key = modelBlob(sha256, file.path);
    const info = await control.blobs.head(key);
    if (info?.size === file.size) continue;
    missing.push(file.path);
    const upload = await directUploadOf(control.blobs, key, file);
    if (upload !== undefined) uploads[file.path] = upload;
  }
  if (missing.length > 0)
    return { sha256, missing, ...(Object.keys(uploads).length === 0 ? {} : { uploads }) };
  const record: ModelRecord = {
    v: 1,
    name: push.name,
    sha256,
    files,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    ...(push.source && { source: push.source }),
    createdAtMs: control.clock.now(),
  };
  const written = await update<ModelRecord>(control.store, modelKey(push.name), (current) => {
    if (current?.value.sha256 === sha256) return undefined;
    refuseOther(push, sha256, current?.value.sha256);
    return { value: record };
  });
  return { sha256, missing: [], model: written?.value ?? record };
}

/** Stores one announced file; a body that hashes otherwise is refused and not kept. */
export async function putModelFile(
  control: Control,
  sha256: string,
  path: string,
  body: ReadableStream<Uint8Array>,
): Promise<void> {
  const file = (await findManifest(control, sha256))?.files.find((each) => each.path === path);
  if (file === undefined) {
    throw new SpotterError("not_found", `No model ${sha256} with a file ${path} was announced.`, {
      where: path,
      hint: "Announce it first with POST /models.",
    });
  }
  await putContent(control.blobs, modelBlob(sha256, path), body, file.sha256);
}

export async function findModel(control: Control, name: string): Promise<ModelRecord | undefined> {
  // What cannot be a name is no key of the store either.
  if (!modelName.safeParse(name).success) return undefined;
  return (await control.store.get<ModelRecord>(modelKey(name)))?.value;
}

export async function getModel(control: Control, name: string): Promise<ModelRecord> {
  const found = await findModel(control, name);
  if (found !== undefined) return found;
  const records = await collect<ModelRecord>((after) => control.store.query(MODELS, after ? { after } : {}));
  const near = nearestName(
    name,
    records.map((each) => each.name),
  );
  throw new SpotterError("model_not_found", `No weights are stored under the name "${short(name)}".`, {
    where: "model",
    hint: near ? `Did you mean "${near}"?` : "Store them with `spotter model push`.",
  });
}

/**
 * A name of stored weights with the manifest it means now; shipped models and paths as they are. What is in a folder or
 * a file is for the container to read; that there is a model is seen here, where this machine can see it.
 *
 * @throws SpotterError `model_not_found` for a name that nothing is known under, with the nearest one, and for a path
 * without a model.
 */
export async function pinnedModel(
  control: Control,
  model: ModelRef,
  where = "model.name",
): Promise<ModelRef> {
  const { name, revision } = model;
  if (revision !== undefined || isShipped(name)) return model;
  if (name.startsWith("/")) {
    const fault = await control.modelFault?.(name);
    if (fault === undefined) return model;
    throw new SpotterError("model_not_found", `${short(name)} ${fault}.`, {
      where,
      hint: "A model is a folder with config.json, tokenizer.json and safetensors, or a GGUF file.",
    });
  }
  const found = await findModel(control, name);
  if (found !== undefined) return { ...model, revision: found.sha256 };
  const stored = await collect<ModelRecord>((after) => control.store.query(MODELS, after ? { after } : {}));
  const known = [...SHIPPED_MODELS, ...stored.map((each) => each.name)];
  const near = nearestName(name, known);
  throw new SpotterError("model_not_found", `There is no model "${short(name)}" here.`, {
    where,
    hint:
      near === undefined
        ? `Use ${known.join(", ")}, the absolute path of a model folder or GGUF file, or store weights with ${pullOf(name)}.`
        : `Did you mean "${near}"? If not, store its weights with ${pullOf(name)}.`,
  });
}

/** The command that stores weights of a hub under a name; theirs have two parts. */
export function pullOf(name: string): string {
  const source = name.includes("/") ? short(name) : `OWNER/MODEL --name ${short(name)}`;
  return `\`spotter model pull hf:${source}\``;
}

function short(name: string): string {
  return name.length > 200 ? `${name.slice(0, 200)}…` : name;
}

function isShipped(name: string): boolean {
  return SHIPPED_MODELS.some((shipped) => shipped === name);
}

/** The files of stored weights as a container fetches them; undefined for models that are not stored here. */
export async function storedFiles(
  control: Control,
  jobId: string,
  model: ModelRef,
): Promise<JobFile[] | undefined> {
  const { revision } = model;
  const manifest = revision === undefined ? undefined : await findManifest(control, revision);
  if (revision === undefined || manifest === undefined) return undefined;
  return manifest.files.map((file) => ({
    ...jobFile(control, jobId, modelBlob(revision, file.path), file),
    path: file.path,
  }));
}

export function modelBlob(sha256: string, path: string): string {
  return `${modelBlobs(sha256)}${path}`;
}

/** What the keys of all files of a model begin with; of all models, for "". */
export function modelBlobs(sha256: string): string {
  return sha256 === "" ? "models/" : `models/${sha256}/`;
}

/** Paths of a stored model's files; none of one that is not stored. */
export async function modelFiles(control: Control, sha256: string): Promise<string[]> {
  return (await findManifest(control, sha256))?.files.map(({ path }) => path) ?? [];
}

export async function findManifest(control: Control, sha256: string): Promise<Manifest | undefined> {
  return (await control.store.get<Manifest>(manifestKey(sha256)))?.value;
}

export function modelKey(name: string): DocumentKey {
  return { partition: MODELS, sort: name };
}

export function manifestKey(sha256: string): DocumentKey {
  return { partition: "model-files", sort: sha256 };
}

function manifestHash(files: readonly ModelFile[]): string {
  return sha256Of(files.map(({ path, size, sha256 }) => `${path} ${size} ${sha256}\n`).join(""));
}

function checkWhole(name: string, files: readonly ModelFile[]): void {
  const paths = files.map(({ path }) => path);
  // A GGUF file holds configuration and tokenizer as well.
  if (paths.length === 1 && /\.gguf$/i.test(paths[0] ?? "")) return;
  const lacking = [
    ...(paths.includes("config.json") ? [] : ["config.json"]),
    ...(paths.includes("tokenizer.json") ? [] : ["tokenizer.json"]),
    ...(paths.some((path) => path.endsWith(".safetensors")) ? [] : ["*.safetensors"]),
  ];
  if (lacking.length === 0 && new Set(paths).size === paths.length) return;
  const what = lacking.length > 0 ? `lacks ${lacking.join(", ")}` : "names a file twice";
  throw new SpotterError("model_corrupt", `The model "${name}" ${what}.`, {
    where: "files",
    hint: "A model has config.json, tokenizer.json and its weights as safetensors, or is one GGUF file.",
  });
}

function refuseOther(push: PushModel, sha256: string, stored: string | undefined): void {
  if (push.replace || stored === undefined || stored === sha256) return;
  throw new SpotterError("conflict", `Other weights are stored under the name "${push.name}".`, {
    where: "name",
    hint: "Choose another name, or replace them: --replace, replace: true.",
  });
}
