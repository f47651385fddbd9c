import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { SpotterError } from "./schema/errors.ts";
import { typeName } from "./schema/type-name.ts";
import { pageOf } from "./schema/common.ts";
import {
  type DeletedModel,
  deletedModel,
  type ModelRecord,
  modelRecord,
  type ModelRef,
} from "./schema/model.ts";
import type * as responses from "./schema/parse-response.ts";
import type { ParsedResponse } from "./schema/rollout.ts";
import { type CallOptions, clientOf } from "./client.ts";
import { filePath } from "./file-path.ts";

export interface PushModelParams extends CallOptions {
  /** What Endpoint, TrainConfig and the others call it. Default: the name on the hub. */
  name?: string;
  /** Let the name mean these weights from now on. What runs already keeps its own. Default false. */
  replace?: boolean;
  /** Called before each file. */
  onProgress?: (progress: { what: "download" | "upload"; path: string; bytes: number | undefined }) => void;
}

export interface ModelParams {
  /** Hub revision; a commit pins it. */
  revision?: string;
}

/** A model by name. Nothing is loaded or downloaded here. */
export class Model {
  readonly name: string;
  readonly revision: string | undefined;

  constructor(name: string, params: ModelParams = {}) {
    this.name = name;
    this.revision = params.revision;
  }

  /** What goes over the wire. */
  get ref(): ModelRef {
    return { name: this.name, ...(this.revision === undefined ? {} : { revision: this.revision }) };
  }

  /**
   * Takes a raw completion apart into text, reasoning and tool calls: what rewards see as `args.response`.
   *
   * @example
   * models.get("spotter/nano").parseResponse("<think>hm</think>Hello").content; // "Hello"
   */
  parseResponse(text: string): ParsedResponse {
    return responseParser().parseResponse(text);
  }
}

/** Finds models by name, folder or URL. */
export const models = {
  /**
   * `spotter/nano` (shipped with the package), the name of stored weights such as `Qwen/Qwen3-0.6B` (see
   * {@link models.push}), or a folder with config.json, safetensors and tokenizer.json, or a GGUF file. What starts with `.`, `/` or `~`, and
   * every file URL, is a folder or such a file.
   *
   * @throws SpotterError `model_not_found` for a folder that does not exist or holds no model.
   * @example
   * const model = models.get("spotter/nano");
   */
  get(name: string | URL, params: ModelParams = {}): Model {
    if (name instanceof URL) return new Model(modelFolder(filePath(name, "models.get")), params);
    if (typeof name !== "string") throw noModel(name);
    if (/^[.~/]/.test(name)) return new Model(modelFolder(name.replace(/^~(?=\/|$)/, homedir())), params);
    if (/^[\w.-]+(\/[\w.-]+)?$/.test(name)) return new Model(name, params);
    throw new SpotterError("model_not_found", `${JSON.stringify(name)} is not the name of a model.`, {
      hint: 'Use "spotter/nano", a stored name such as "Qwen/Qwen3-0.6B", or a folder or GGUF file that starts with "./" or "/".',
    });
  },

  /**
   * Stores weights, tokenizer and config once, from a folder, a GGUF file, or the hub as `hf:owner/name[@revision]`.
   * Every container gets them from there: no cold start asks a hub.
   *
   * @throws SpotterError `conflict` if the name means other weights, `model_unsupported` without safetensors,
   * and the codes of the hub.
   * @example
   * await models.push("hf:Qwen/Qwen3-0.6B");
   * const endpoint = await Endpoint.launch("Qwen/Qwen3-0.6B");
   */
  async push(source: string | URL, params: PushModelParams = {}): Promise<ModelRecord> {
    const { name, replace = false, signal, onProgress = () => {} } = params;
    const { pushModelSource } = await import("./hub/push-model.ts");
    const place =
      source instanceof URL ? filePath(source, "models.push") : source.replace(/^~(?=\/|$)/, homedir());
    return pushModelSource(clientOf(params), place, { name, replace, signal, onProgress });
  },

  /** Stored weights, by name. */
  async list(options: CallOptions = {}): Promise<ModelRecord[]> {
    const records: ModelRecord[] = [];
    let after: string | undefined;
    do {
      const { signal } = options;
      const request = { query: { after }, signal };
      const page = await clientOf(options).request(pageOf(modelRecord), "GET", "/models", request);
      records.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    return records;
  },

  /**
   * Forgets stored weights. They stay on the disk only while something else needs them: `keptFor` says what.
   *
   * @throws SpotterError `model_not_found`
   * @example
   * const { bytes, keptFor } = await models.delete("Qwen/Qwen3-0.6B");
   */
  async delete(name: string, options: CallOptions = {}): Promise<DeletedModel> {
    const path = `/models/${name.split("/").map(encodeURIComponent).join("/")}`;
    // Repeated, it would say that there is no such model.
    const request = { signal: options.signal, retry: "unsent" } as const;
    return clientOf(options).request(deletedModel, "DELETE", path, request);
  },
};

/**
 * Loaded when first used, and at once: what reads answers piece by piece weighs as much as the client, and
 * few scripts take answers apart themselves. Node requires ES modules since 22.12.
 */
function responseParser(): typeof responses {
  const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return createRequire(import.meta.url)(`./schema/parse-response.${ending}`) as typeof responses;
}

/** The model a parameter means. */
export function modelOf(model: Model | string): Model {
  if (typeof model === "string") return models.get(model);
  if (typeof model !== "object" || model === null || !("ref" in model)) throw noModel(model);
  return model;
}

function noModel(value: unknown): SpotterError {
  return new SpotterError("invalid_input", `Expected a model, not ${typeName(value)}.`, {
    where: "model",
    hint: 'Give models.get("spotter/nano") or a name.',
  });
}

function modelFolder(path: string): string {
  const folder = resolve(path);
  const isFile = /\.gguf$/i.test(folder);
  if (existsSync(isFile ? folder : resolve(folder, "config.json"))) return folder;
  const what = existsSync(folder) ? "holds no config.json" : "does not exist";
  throw new SpotterError("model_not_found", `The model ${isFile ? "file" : "folder"} ${folder} ${what}.`, {
    where: folder,
    hint: "A model is a folder with config.json, tokenizer.json and model.safetensors, or a GGUF file.",
  });
}
