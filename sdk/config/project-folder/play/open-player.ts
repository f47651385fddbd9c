import { resolve } from "node:path";
import type { ChatCompletion } from "../../../schema/chat.ts";
import type { Client } from "../../../client.ts";
import { Endpoint } from "../../../endpoint.ts";
import { models } from "../../../model.ts";
import { endpoint as endpointSchema } from "../../../schema/endpoint.ts";
import { SHIPPED_MODELS } from "../../../schema/model.ts";
import { SpotterError } from "../../../schema/errors.ts";
import { isApiModel, modelNameKind } from "../catalogue.ts";
import type { ProjectConfig } from "../config-schema.ts";
import { rolloutDefaults } from "../config-schema.ts";
import type { Project } from "../project.ts";
import { type Ask, chatPlayer } from "./chat-player.ts";
import { mockPlayer } from "./mock-player.ts";
import { openAiAsk, openAiModels, type OpenAiServer } from "./openai-ask.ts";
import type { Player } from "./player.ts";

const OPENAI = "https://api.openai.com/v1";
const CHAT_TIMEOUT_MS = 600_000;

export interface OpenPlayerParams {
  /** What `--model` says: `mock`, a URL, a model, an endpoint, a checkpoint. Absent: the project's own. */
  model?: string | undefined;
  project: Project & { config: ProjectConfig };
  /** What the chat template is given, from `reasoning_mode`. */
  chatTemplateKwargs: Record<string, unknown>;
  environment: Readonly<Record<string, string | undefined>>;
  client: () => Client;
  signal: AbortSignal;
}

/** What serving a model takes. */
export type ServeParams = Pick<OpenPlayerParams, "client" | "project" | "signal">;

/**
 * Whoever answers. What had to be launched for it sleeps soon after its last answer.
 *
 * @throws SpotterError `model_not_found` with what may be given instead; `unauthorized`, `endpoint_failed`.
 */
export async function openPlayer(params: OpenPlayerParams): Promise<Player> {
  const { model, environment, client, signal } = params;
  if (model === undefined) return ownModel(params);
  if (model === "mock") return mockPlayer();
  if (/^https?:\/\//i.test(model)) return atUrl(model, params);
  if (isApiModel(model)) return onOpenAi(model, params);
  if (/^[.~/]/.test(model) || isShipped(model)) return launched(model, params);
  const [isKnown, serving] = await Promise.all([isServed(client(), model, signal), servingOf(params, model)]);
  if (isKnown) return onGym(model, model, params);
  if (serving) return onGym(serving.name, `${model} (endpoint ${serving.name})`, params);
  if (!model.includes("/") && environment.OPENAI_BASE_URL) return onOpenAi(model, params);
  return launched(model, params);
}

/** The project's model, where it costs nothing but this machine's time. */
async function ownModel(params: OpenPlayerParams): Promise<Player> {
  const { project, environment } = params;
  const [name = ""] = [project.config.model.path].flat();
  const kind = modelNameKind(name, project.catalogue);
  const serving = await servingOf(params, name);
  if (serving) return onGym(serving.name, `${name} (endpoint ${serving.name})`, params);
  if (kind === "record" && (await isServed(params.client(), name, params.signal)))
    return onGym(name, name, params);
  // Elsewhere a launch costs money: it has to be asked for.
  if (environment.SPOTTER_URL && !isShipped(name)) throw notServed(name, "is served by no endpoint.");
  return launched(name, params);
}

function isShipped(name: string): boolean {
  return (SHIPPED_MODELS as readonly string[]).includes(name);
}

export async function isServed(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.command("GET", `/v1/models/${encodeURIComponent(name)}`, { signal });
    return true;
  } catch (error) {
    if (SpotterError.is(error) && error.status === 404) return false;
    throw error;
  }
}

/** An endpoint that serves a model as it was before any training. */
export async function servingOf(
  { client, project, signal }: ServeParams,
  name: string,
): Promise<Endpoint | undefined> {
  const model = seenFrom(project.folder, name);
  const endpoints = await Endpoint.list({ client: client(), signal });
  return endpoints.find(
    ({ record, state }) =>
      state === "ready" && record.model.name === model && record.checkpoint === undefined,
  );
}

async function launched(name: string, params: OpenPlayerParams): Promise<Player> {
  const endpoint = await launch(name, params);
  await endpoint.waitUntilReady({ signal: params.signal });
  return onGym(endpoint.name, name, params);
}

/** Folders are meant as seen from the project, as a training takes them. */
function seenFrom(folder: string, name: string): string {
  return /^\.{1,2}(?:\/|$)/.test(name) ? resolve(folder, name) : name;
}

/**
 * Serves a model for a while. Nobody stops it: others may have begun to ask it, and it sleeps by itself. One that
 * somebody launched is left as it is.
 */
export async function launch(name: string, { client, project, signal }: ServeParams): Promise<Endpoint> {
  try {
    const json = { model: models.get(seenFrom(project.folder, name)).ref, implicit: true };
    const options = { json, signal, idempotencyKey: crypto.randomUUID() };
    const record = await client().request(endpointSchema, "POST", "/endpoints", options);
    return await Endpoint.get(record.name, { client: client(), signal });
  } catch (error) {
    if (!SpotterError.is(error) || !["model_not_found", "model_unsupported"].includes(error.code))
      throw error;
    throw notServed(name, `cannot be served here: ${error.message}`, error);
  }
}

function notServed(name: string, why: string, cause?: unknown): SpotterError {
  return new SpotterError("model_not_found", `${name || "The project's model"} ${why}`, {
    where: "--model",
    hint:
      "Pass --model: spotter/nano, mock (no model at all), an endpoint's name, a checkpoint (run@step), " +
      "the URL of an OpenAI-compatible server, or a name that OPENAI_BASE_URL knows.",
    cause,
  });
}

function onGym(model: string, name: string, params: OpenPlayerParams): Player {
  const { client, chatTemplateKwargs } = params;
  const ask: Ask = (body, signal) =>
    client().receive(
      "POST",
      "/v1/chat/completions",
      { json: body, signal, timeoutMs: CHAT_TIMEOUT_MS },
      async (response) => (await response.json()) as ChatCompletion,
    );
  const fields = { model, temperature: 1, ...templateFields(chatTemplateKwargs) };
  return chatPlayer({ name, ask, fields });
}

function templateFields(kwargs: Record<string, unknown>): Record<string, unknown> {
  return Object.keys(kwargs).length > 0 ? { chat_template_kwargs: kwargs } : {};
}

/** A server by its URL; `URL#name` says which of its models. */
async function atUrl(text: string, params: OpenPlayerParams): Promise<Player> {
  const { environment, chatTemplateKwargs, signal } = params;
  const [url = "", named = ""] = text.split("#");
  if (!URL.canParse(url))
    throw new SpotterError("invalid_input", `${JSON.stringify(url)} is no URL.`, {
      where: "--model",
      hint: "Write it as http://127.0.0.1:8000/v1.",
    });
  const server: OpenAiServer = {
    baseUrl: url.replace(/\/+$/, ""),
    key: environment.OPENAI_API_KEY || undefined,
  };
  const model = named || (await openAiModels(server, signal))[0];
  if (model === undefined)
    throw new SpotterError("model_not_found", `${url} names no model.`, {
      where: "--model",
      hint: `Say which: --model ${url}#NAME`,
    });
  const fields = { model, temperature: 1, ...templateFields(chatTemplateKwargs) };
  return chatPlayer({ name: `${model} at ${url}`, ask: openAiAsk(server), fields });
}

/** Models that others serve: a name at OPENAI_BASE_URL, with OPENAI_API_KEY. */
function onOpenAi(model: string, { environment, project }: OpenPlayerParams): Player {
  const base = environment.OPENAI_BASE_URL || OPENAI;
  const key = environment.OPENAI_API_KEY || undefined;
  if (key === undefined && base === OPENAI)
    throw new SpotterError("unauthorized", `${model} needs a key.`, {
      where: "OPENAI_API_KEY",
      hint: "Set OPENAI_API_KEY; OPENAI_BASE_URL says whose server it is.",
    });
  // Those that always think refuse a temperature, and call the longest answer by another name.
  const isThinker = /^(?:openai\/)?(?:gpt-[5-9]|o\d)/i.test(model);
  const mode = (project.config.rollout ?? rolloutDefaults).reasoning_mode;
  const effort = mode === null || mode === "disabled" ? {} : { reasoning_effort: mode };
  return chatPlayer({
    name: model,
    ask: openAiAsk({ baseUrl: base.replace(/\/+$/, ""), key }),
    fields: { model, ...(isThinker ? effort : { temperature: 1 }) },
    ...(isThinker && { maxTokensField: "max_completion_tokens", takesSeed: false }),
  });
}
