import { createHash } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import * as z from "zod/mini";
import type { Client } from "../client.ts";
import { putDirect } from "../direct-upload.ts";
import { cachePath, readIfThere, writeAtomic } from "../datasets/cache-folder.ts";
import { SpotterError } from "../schema/errors.ts";
import {
  isModelFile,
  type ModelFile,
  modelRecord,
  type ModelRecord,
  type PushModel,
  pushModelReply,
} from "../schema/model.ts";
import { downloadHubFile } from "./download-hub-file.ts";
import { hubRepo, openHub, type HubRepo } from "./hub.ts";

/** Time for one file of weights. */
const UPLOAD_MS = 4 * 3_600_000;

export interface PushProgress {
  what: "download" | "upload";
  path: string;
  /** Of the file. */
  bytes: number | undefined;
}

export interface PushSourceParams {
  name: string | undefined;
  replace: boolean;
  signal: AbortSignal | undefined;
  onProgress: (progress: PushProgress) => void;
}

/** Files of a model on this disk, by their path in it. */
interface LocalModel {
  name: string;
  files: Map<string, string>;
  source: PushModel["source"];
}

/** Stores the weights of a folder, or of `hf:owner/name[@revision]`, with the control plane. */
export async function pushModelSource(
  client: Client,
  source: string,
  params: PushSourceParams,
): Promise<ModelRecord> {
  if (!source.startsWith("hf:")) return push(client, await folderModel(source, params.name), params);
  const repo = await modelRepo(source, params.signal);
  const known = await stored(client, params.name ?? repo.repo, params.signal);
  // Weights of that very commit are there: nothing of gigabytes is fetched to find that out.
  if (known?.source?.repo === repo.repo && known.source.commit === repo.commit) return known;
  const hub = openHub({ signal: params.signal });
  const files = new Map<string, string>();
  for (const file of weightFiles(repo)) {
    params.onProgress({ what: "download", path: file.path, bytes: file.size });
    files.set(file.path, await downloadHubFile(hub, repo, file));
  }
  const origin = { repo: repo.repo, commit: repo.commit };
  const model = { name: params.name ?? repo.repo, files, source: origin };
  const record = await push(client, model, params);
  // The control plane has them now: a second copy of weights on this disk serves nobody.
  for (const path of files.values()) await rm(path, { force: true });
  return record;
}

/**
 * The repository that `hf:owner/name[@revision]` names, at a commit. Where the hub cannot be reached, as it was listed
 * last: what is on this machine can be used then.
 */
export async function modelRepo(source: string, signal: AbortSignal | undefined): Promise<HubRepo> {
  const [repo = "", revision] = source.slice("hf:".length).split("@");
  const hub = openHub({ signal });
  const path = cachePath("hub", { v: 1, endpoint: hub.endpoint, kind: "model", repo, revision }, ".json");
  try {
    const found = await hub.repo({ kind: "model", repo, revision });
    await writeAtomic(path, [JSON.stringify(found)]);
    return found;
  } catch (error) {
    if (!SpotterError.is(error) || error.code !== "hub_unreachable") throw error;
    const kept = z.safeParse(hubRepo, JSON.parse((await readIfThere(path)) ?? "null"));
    if (!kept.success) throw error;
    return kept.data;
  }
}

async function stored(
  client: Client,
  name: string,
  signal: AbortSignal | undefined,
): Promise<ModelRecord | undefined> {
  const path = `/models/${name.split("/").map(encodeURIComponent).join("/")}`;
  try {
    return await client.request(modelRecord, "GET", path, { signal });
  } catch (error) {
    if (SpotterError.is(error) && error.status === 404) return undefined;
    throw error;
  }
}

async function push(client: Client, model: LocalModel, params: PushSourceParams): Promise<ModelRecord> {
  const { signal } = params;
  const files = await Promise.all([...model.files].map(([path, place]) => described(path, place)));
  const json = {
    name: model.name,
    files,
    replace: params.replace,
    ...(model.source && { source: model.source }),
  };
  // Uploads that another process began may fill in between, so the question is asked until nothing is missing.
  for (;;) {
    const reply = await client.request(pushModelReply, "POST", "/models", { json, signal });
    if (reply.model !== undefined) return reply.model;
    for (const path of reply.missing) {
      params.onProgress({ what: "upload", path, bytes: files.find((file) => file.path === path)?.size });
      const body = await openAsBlob(model.files.get(path) ?? "");
      const direct = reply.uploads?.[path];
      const url = `/models/${reply.sha256}/files/${encodeURIComponent(path)}`;
      if (direct !== undefined) await putDirect(direct, body, { signal, timeoutMs: UPLOAD_MS });
      else await client.command("PUT", url, { body, signal, timeoutMs: UPLOAD_MS });
    }
  }
}

async function folderModel(folder: string, name: string | undefined): Promise<LocalModel> {
  const isFile = isGguf(folder);
  const entries = await (isFile ? stat(folder).then(() => []) : readdir(folder)).catch((cause: unknown) => {
    throw new SpotterError("model_not_found", `There is no model ${isFile ? "file" : "folder"} ${folder}.`, {
      where: folder,
      hint: "Give a folder with config.json, a GGUF file, or hf:owner/name.",
      cause,
    });
  });
  if (name === undefined) {
    throw new SpotterError("invalid_input", "A model from this disk needs a name to be stored under.", {
      where: "name",
      hint: "Pass --name my-model, or name: in code.",
    });
  }
  if (isFile) return { name, files: new Map([[ggufName(folder), folder]]), source: undefined };
  // Beside a model of Hugging Face's kind, a GGUF file holds the same weights once more.
  const isWhole = entries.includes("config.json");
  const wanted = entries.filter((path) => isModelFile(path) && isGguf(path) !== isWhole);
  const files = wanted.map((path): [string, string] => [path, join(folder, path)]);
  return { name, files: new Map(files), source: undefined };
}

function isGguf(path: string): boolean {
  return /\.gguf$/i.test(path);
}

/** What the file is called where it is stored: without letters that no stored name has. */
function ggufName(path: string): string {
  return basename(path).replace(/[^\w.-]/g, "-");
}

/** Config, tokenizer and one set of weights: some repositories hold the same weights twice. */
function weightFiles({ repo, files }: HubRepo): HubRepo["files"] {
  const wanted = files.filter(({ path }) => isModelFile(path) && !isGguf(path));
  const isWeights = (path: string) => path.endsWith(".safetensors");
  const usual = wanted.filter(({ path }) => /^model(-\d+-of-\d+)?\.safetensors$/.test(path));
  if (!wanted.some(({ path }) => isWeights(path))) {
    throw new SpotterError("model_unsupported", `${repo} holds no weights as safetensors.`, {
      where: repo,
      hint: "Choose a repository with safetensors files; pickled weights can run code and are not read.",
    });
  }
  return usual.length === 0 ? wanted : wanted.filter((file) => !isWeights(file.path) || usual.includes(file));
}

async function described(path: string, place: string): Promise<ModelFile> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(place)) hash.update(chunk as Uint8Array);
  return { path, size: (await stat(place)).size, sha256: hash.digest("hex") };
}
