import { timingSafeEqual } from "node:crypto";
import { Hono, type Context } from "hono";
import type { EngineApi } from "../onnx/engine-api.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import type { Generator } from "./adapter-engines.ts";
import { readChatRequest, type AnswerRequest } from "./answer-request.ts";
import { answers, type AnswerEvent } from "./answers.ts";
import { chatChunks, chatCompletion, type AnswerHead } from "./chat-completion.ts";
import { readCompletionRequest } from "./completion-request.ts";
import { openAiError, RequestError } from "./request-error.ts";
import { eventStream, SSE_HEADERS } from "./sse.ts";
import { textChunks, textCompletion } from "./text-completion.ts";
import { detokenize, tokenize } from "./tokenize.ts";

export interface ServeInfo {
  text: TextModel;
  /** Names it answers to in `/v1/models`. */
  models: string[];
  /** The engine of an adapter on the same model, for requests whose `model` is `run@step`. Default: there is none. */
  openAdapter?: (id: string, signal: AbortSignal) => Promise<Generator>;
  /** The Bearer key that every route but `/health` asks for. Default: none. */
  accessKey?: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  newId: () => string;
  /** A seed for a request that brings none. */
  newSeed: () => number;
  /** Told of what is not the caller's fault. */
  onError: (error: unknown, requestId: string) => void;
}

type Variables = { requestId: string };
type Ctx = Context<{ Variables: Variables }>;

/** Many times what fits the longest context; encoding more would hold up every other answer. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const KNOWN_METHODS: Record<string, string> = {
  "/v1/chat/completions": "POST",
  "/v1/completions": "POST",
  "/v1/models": "GET",
  "/tokenize": "POST",
  "/detokenize": "POST",
  "/health": "GET",
};

/**
 * The OpenAI-compatible server of one engine.
 *
 * @example
 * const app = createServeApp(engine, info);
 * const response = await app.request("/v1/models");
 */
export function createServeApp(engine: EngineApi, info: ServeInfo): Hono<{ Variables: Variables }> {
  const { text } = info;
  const app = new Hono<{ Variables: Variables }>({ strict: false });
  const created = seconds(info.now());
  const models = info.models.map((id) => ({ id, object: "model", created, owned_by: "spotter" }));

  app.use(async (c, next) => {
    const given = c.req.header("x-request-id") ?? "";
    c.set("requestId", /^[\w.-]{1,128}$/.test(given) ? given : info.newId());
    await next();
    c.res.headers.set("x-request-id", c.get("requestId"));
  });
  app.use(async (c, next) => {
    if (c.req.path !== "/health") checkKey(info.accessKey, c.req.header("authorization"));
    await next();
  });
  app.get("/health", (c) => c.json({ ok: true }));
  app.get("/v1/models", (c) => c.json({ object: "list", data: models }));
  app.get("/v1/models/:id{.+}", (c) => {
    const id = decoded(c.req.path.slice("/v1/models/".length));
    const model = models.find((item) => item.id === id);
    if (model !== undefined) return c.json(model);
    throw new RequestError(`The model '${id}' does not exist.`, {
      status: 404,
      code: "model_not_found",
      param: "model",
    });
  });
  app.post("/v1/chat/completions", async (c) => {
    const request = readChatRequest(await readJson(c), text);
    const { head, events, abort } = begin(c, await engineOf(c, request), request, "chatcmpl");
    if (!request.stream) return c.json(await chatCompletion(head, request, events, info.newId));
    return streamed(c, chatChunks(head, request, events, info.newId), abort);
  });
  app.post("/v1/completions", async (c) => {
    const request = readCompletionRequest(await readJson(c), text);
    const rawTokens = request.alternatives !== undefined;
    const { head, events, abort } = begin(c, await engineOf(c, request), request, "cmpl", rawTokens);
    if (!request.stream) return c.json(await textCompletion(head, request, text, events));
    return streamed(c, textChunks(head, request, text, events), abort);
  });
  app.post("/tokenize", async (c) => c.json(tokenize(await readJson(c), text)));
  app.post("/detokenize", async (c) => c.json(detokenize(await readJson(c), text)));
  app.notFound((c) => {
    const method = KNOWN_METHODS[c.req.path];
    return method === undefined || method === c.req.method
      ? failed(c, new RequestError(`Unknown request URL: ${c.req.method} ${c.req.path}.`, UNKNOWN_URL))
      : failed(c, new RequestError(`Use ${method} for ${c.req.path}.`, WRONG_METHOD), { allow: method });
  });
  app.onError((error, c) => failed(c, error));
  return app;

  /** Whatever else a request calls its model, it is the base that was meant. */
  function engineOf(c: Ctx, { model }: AnswerRequest): Generator | Promise<Generator> {
    if (info.openAdapter === undefined || !model.includes("@")) return engine;
    return info.openAdapter(model, c.req.raw.signal);
  }

  /** Asks an engine; the answer ends when the client goes away. */
  function begin(
    c: Ctx,
    asked: Generator,
    request: AnswerRequest,
    prefix: string,
    rawTokens = false,
  ): { head: AnswerHead; events: AsyncGenerator<AnswerEvent[], void, void>; abort: AbortController } {
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, c.req.raw.signal]);
    const head = { id: `${prefix}-${info.newId()}`, created: seconds(info.now()), model: request.model };
    const seed = request.seed ?? info.newSeed();
    return { head, events: answers(asked, text, request, { seed, signal, rawTokens }), abort };
  }

  function streamed(c: Ctx, source: AsyncGenerator<unknown[], void, void>, abort: AbortController): Response {
    const body = eventStream({
      source,
      errorValue: (error) => report(c, error).body,
      onCancel: () => abort.abort(),
    });
    return c.body(body, 200, SSE_HEADERS);
  }

  function failed(c: Ctx, error: unknown, headers: Record<string, string> = {}): Response {
    const { status, body } = report(c, error);
    return Response.json(body, { status, headers });
  }

  function report(c: Ctx, error: unknown): ReturnType<typeof openAiError> {
    const answer = openAiError(error);
    if (answer.status >= 500) info.onError(error, c.get("requestId"));
    return answer;
  }
}

/** A replica listens where every program of its machine can reach it, so it answers the gateway only. */
function checkKey(accessKey: string | undefined, authorization: string | undefined): void {
  if (accessKey === undefined) return;
  const [asked, sent] = [`Bearer ${accessKey}`, authorization ?? ""].map((text) => Buffer.from(text));
  if (asked !== undefined && sent?.length === asked.length && timingSafeEqual(asked, sent)) return;
  throw new RequestError("A replica answers through its gateway only.", {
    status: 401,
    code: "invalid_api_key",
  });
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    throw new RequestError(`The path has a percent escape that is not UTF-8: ${id}`, {
      code: "invalid_input",
      param: "model",
    });
  }
}

const UNKNOWN_URL = { status: 404, code: "unknown_url" };
const WRONG_METHOD = { status: 405, code: "method_not_supported" };

/** The body as JSON, whatever type it says it has. */
async function readJson(c: Ctx): Promise<unknown> {
  if (Number(c.req.header("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const bytes = await c.req.arrayBuffer();
  if (bytes.byteLength > MAX_BODY_BYTES) throw tooLarge();
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch {
    throw new RequestError("We could not parse the JSON body of your request.");
  }
}

function tooLarge(): RequestError {
  const message = `The request body is larger than ${MAX_BODY_BYTES} bytes.`;
  return new RequestError(message, { status: 413, code: "request_too_large" });
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
