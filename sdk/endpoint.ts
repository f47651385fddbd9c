import * as z from "zod/mini";
import { pageOf, positiveInt } from "./schema/common.ts";
import { SpotterError } from "./schema/errors.ts";
import {
  endpoint as endpointSchema,
  type Endpoint as EndpointRecord,
  type EndpointState,
  type LaunchEndpointInput,
} from "./schema/endpoint.ts";
import type { VllmSettings } from "./schema/engines/vllm-settings.ts";
import { type GpuClass, hardware } from "./schema/hardware.ts";
import { parseWith } from "./schema/parse.ts";
import { scalingSettings, type ScalingSettings } from "./schema/scaling.ts";
import {
  chat,
  streamChat,
  type ChatMessage,
  type ChatOptions,
  type ChatReply,
  type ChatStreamDelta,
} from "./chat.ts";
import { type Checkpoint, checkpointIdOf } from "./checkpoint.ts";
import { type CallOptions, type Client, clientOf } from "./client.ts";
import { type Model, modelOf } from "./model.ts";
import { sleep } from "./retry.ts";
import { failureText } from "./failure-text.ts";
import { optionsSchema } from "./options.ts";

export interface LaunchEndpointParams extends CallOptions {
  /** Serve the weights of a checkpoint of this model: the checkpoint or its id, `run@step`. */
  checkpoint?: Checkpoint | string | undefined;
  /** Default: derived from model and checkpoint, so that the same launch finds the same endpoint. */
  name?: string;
  /** Anyone may chat, without a key. Default false. */
  public?: boolean;
  /** Replace an endpoint of this name that serves something else, or restart the same. Default false. */
  recreate?: boolean;
  /**
   * What each replica runs on, where there is a choice: on AWS. One machine runs on what it has, and says so in the
   * endpoint's `notes`. Default: processors; for vLLM the GPUs that its model is known to need.
   */
  hardware?: { gpu?: GpuClass; fallbacks?: GpuClass[]; count?: number; spot?: boolean };
  /** What serves it: the embedded engine, or vLLM where the home has it; see docs/engines.md. Default onnx. */
  engine?: "onnx" | "vllm";
  /** Settings of vLLM by its own names, as `maxModelLen` for `--max-model-len`. */
  vllm?: VllmSettings;
  /** It is stopped this long after its last launch, however busy it is. Default: never. */
  maxLifetimeMs?: number;
  /**
   * How many replicas it has, and how long requests wait for one. For an endpoint that exists already, what is
   * given changes and the rest stays. Default: one replica, always up.
   */
  scaling?: ScalingSettings;
  /** Launch it although its memory will most likely not be enough. Default false. */
  force?: boolean;
}

export interface UpdateEndpointParams {
  public?: boolean;
  /** Only what is given changes. */
  scaling?: ScalingSettings;
  signal?: AbortSignal | undefined;
}

export interface WaitUntilReadyParams {
  /** Default 15 minutes. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

const launchParams = optionsSchema({
  checkpoint: z.optional(z.union([z.string(), z.looseObject({ id: z.string() })])),
  name: z.optional(z.string()),
  public: z.optional(z.boolean()),
  recreate: z.optional(z.boolean()),
  hardware: z.optional(hardware),
  engine: z.optional(z.enum(["onnx", "vllm"])),
  vllm: z.optional(z.record(z.string(), z.unknown())),
  maxLifetimeMs: z.optional(positiveInt),
  scaling: z.optional(scalingSettings),
  force: z.optional(z.boolean()),
});

const updateParams = optionsSchema({
  public: z.optional(z.boolean()),
  scaling: z.optional(scalingSettings),
});

const logLines = z.object({ lines: z.array(z.string()) });

/** A model, or a checkpoint of it, that answers chat completions. */
export class Endpoint {
  readonly #client: Client;
  #record: EndpointRecord;

  /** @internal Use {@link Endpoint.launch}, {@link Endpoint.get} or {@link Endpoint.list}. */
  constructor(client: Client, record: EndpointRecord) {
    this.#client = client;
    this.#record = record;
  }

  /**
   * Serves a model. Returns as soon as the endpoint exists; {@link waitUntilReady} waits for the weights.
   * Launching the same model and checkpoint again gives the same endpoint.
   *
   * @throws SpotterError `model_not_found`, `checkpoint_not_found`; `memory_exceeded` unless `force`; `conflict` if the name serves something
   * else and `recreate` is not set.
   * @example
   * const base = await Endpoint.launch("spotter/nano");
   * await base.waitUntilReady();
   * console.log((await base.chat([{ role: "user", content: "Write a haiku about rain." }])).content);
   */
  static async launch(model: Model | string, params: LaunchEndpointParams = {}): Promise<Endpoint> {
    parseWith(launchParams, params, "Endpoint.launch");
    const { ref } = modelOf(model);
    const client = clientOf(params);
    const json: LaunchEndpointInput = {
      model: ref,
      ...(params.checkpoint === undefined ? {} : { checkpoint: checkpointIdOf(params.checkpoint) }),
      ...(params.name === undefined ? {} : { name: params.name }),
      ...(params.public === undefined ? {} : { public: params.public }),
      ...(params.recreate === undefined ? {} : { recreate: params.recreate }),
      ...(params.hardware === undefined ? {} : { hardware: params.hardware }),
      ...(params.engine === undefined ? {} : { engine: params.engine }),
      ...(params.vllm === undefined ? {} : { vllm: params.vllm }),
      ...(params.maxLifetimeMs === undefined ? {} : { maxLifetimeMs: params.maxLifetimeMs }),
      ...(params.scaling === undefined ? {} : { scaling: params.scaling }),
    };
    // Without it, repeating a launch because an answer was lost could recreate the endpoint twice.
    const idempotencyKey = crypto.randomUUID();
    const query = { force: params.force ? "true" : undefined };
    const options = { json, query, signal: params.signal, idempotencyKey };
    return new Endpoint(client, await client.request(endpointSchema, "POST", "/endpoints", options));
  }

  /** @throws SpotterError `not_found` */
  static async get(name: string, options: CallOptions = {}): Promise<Endpoint> {
    const client = clientOf(options);
    return new Endpoint(client, await read(client, name, options.signal));
  }

  /** All endpoints, stopped ones included. */
  static async list(options: CallOptions = {}): Promise<Endpoint[]> {
    const client = clientOf(options);
    const endpoints: Endpoint[] = [];
    let after: string | undefined;
    do {
      const request = { query: { after }, signal: options.signal };
      const page = await client.request(pageOf(endpointSchema), "GET", "/endpoints", request);
      endpoints.push(...page.items.map((record) => new Endpoint(client, record)));
      after = page.next;
    } while (after !== undefined);
    return endpoints;
  }

  get name(): string {
    return this.#record.name;
  }

  /** Base URL for any OpenAI client; the model to ask for is {@link name}. */
  get url(): string {
    return this.#record.url;
  }

  /** As of the last call that asked the server. */
  get state(): EndpointState {
    return this.#record.state;
  }

  /** Everything known, as of the last call that asked the server. */
  get record(): EndpointRecord {
    return this.#record;
  }

  async refresh(options: { signal?: AbortSignal | undefined } = {}): Promise<this> {
    this.#record = await read(this.#client, this.name, options.signal);
    return this;
  }

  /**
   * Resolves when a replica has its weights loaded and answers.
   *
   * @throws SpotterError `endpoint_failed` with the reason, `timeout`.
   */
  async waitUntilReady(params: WaitUntilReadyParams = {}): Promise<this> {
    const { timeoutMs = 15 * 60_000, signal } = params;
    const deadline = performance.now() + timeoutMs;
    for (let waitMs = 20; ; waitMs = Math.min(waitMs * 1.1, 1_000)) {
      await this.refresh({ signal });
      if (this.state === "ready") return this;
      if (this.state === "failed") throw failed(this.#record);
      if (this.state === "stopped" || this.state === "stopping") {
        throw new SpotterError("endpoint_failed", `The endpoint ${this.name} is ${this.state}.`, {
          hint: "Launch it again.",
        });
      }
      if (performance.now() + waitMs > deadline) {
        throw new SpotterError("timeout", `The endpoint ${this.name} was not ready after ${timeoutMs} ms.`, {
          hint: `It is ${this.state}; see \`spotter endpoint get ${this.name}\`.`,
        });
      }
      await sleep(waitMs, signal);
    }
  }

  /**
   * One chat completion. Unknown options are passed on, so everything the engine understands can be used.
   * Tries again on 429, 5xx and broken connections, after Retry-After or with jitter.
   *
   * @example
   * const reply = await endpoint.chat([{ role: "user", content: "Hi" }], { max_tokens: 20, temperature: 0 });
   * console.log(reply.content, reply.usage.completion_tokens, reply.finishReason);
   */
  chat(messages: readonly ChatMessage[], options: ChatOptions = {}): Promise<ChatReply> {
    return chat(this.#client, this.name, messages, options);
  }

  /**
   * The same, piece by piece as it is sampled. Leaving the loop aborts the request.
   *
   * @example
   * for await (const delta of endpoint.stream(messages)) process.stdout.write(delta.content ?? "");
   */
  stream(
    messages: readonly ChatMessage[],
    options: ChatOptions = {},
  ): AsyncGenerator<ChatStreamDelta, void, undefined> {
    return streamChat(this.#client, this.name, messages, options);
  }

  /** The last lines its newest replica wrote, oldest first. */
  async logs(options: { signal?: AbortSignal | undefined } = {}): Promise<string[]> {
    return (await this.#client.request(logLines, "GET", `${pathOf(this.name)}/logs`, options)).lines;
  }

  /**
   * Changes in place: nothing restarts, and requests go on.
   *
   * @throws SpotterError `invalid_input`, for instance for a minimum above the maximum.
   * @example
   * await endpoint.update({ scaling: { min: 0, max: 4, idleTimeoutMs: 10 * 60_000 } });
   */
  async update(params: UpdateEndpointParams): Promise<this> {
    parseWith(updateParams, params, "endpoint.update");
    const { signal, ...json } = params;
    const options = { json, signal };
    this.#record = await this.#client.request(endpointSchema, "PATCH", pathOf(this.name), options);
    return this;
  }

  /** Ends all replicas and waits until they are gone. Stopping what is stopped already is fine. */
  async stop(options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    try {
      await this.#client.command("DELETE", pathOf(this.name), options);
      for (let waitMs = 20; ; waitMs = Math.min(waitMs * 1.3, 1_000)) {
        await this.refresh(options);
        if (this.state === "stopped") return;
        await sleep(waitMs, options.signal);
      }
    } catch (error) {
      if (!SpotterError.is(error) || error.code !== "not_found") throw error;
    }
  }
}

/** The name of an endpoint given either way. */
export function endpointNameOf(endpoint: Endpoint | string): string {
  return typeof endpoint === "string" ? endpoint : endpoint.name;
}

function read(client: Client, name: string, signal: AbortSignal | undefined): Promise<EndpointRecord> {
  return client.request(endpointSchema, "GET", pathOf(name), { signal });
}

function pathOf(name: string): string {
  return `/endpoints/${encodeURIComponent(name)}`;
}

function failed(record: EndpointRecord): SpotterError {
  const text = failureText(record.failure);
  return new SpotterError("endpoint_failed", `The endpoint ${record.name} failed: ${text}`, {
    hint: record.failure?.hint ?? "Launch it again with { recreate: true } when the cause is mended.",
    where: record.name,
  });
}
