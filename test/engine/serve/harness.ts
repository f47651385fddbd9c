import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Hono } from "hono";
import OpenAI from "openai";
import { expect } from "vitest";
import type { EngineApi } from "../../../engine/onnx/engine-api.ts";
import { startEngine } from "../../../engine/onnx/engine-client.ts";
import { createServeApp, type ServeInfo } from "../../../engine/serve/app.ts";
import { ChatTemplate } from "../../../engine/onnx/text/chat-template.ts";
import { loadTextModel, type TextModel } from "../../../engine/onnx/text/text-model.ts";
import { Tokenizer } from "../../../engine/onnx/text/tokenizer.ts";
import { END_ID, tinyConfig, tinyTokenizer } from "../onnx/fixtures/tiny-model.ts";
import { FakeEngine, type Script } from "./fake-engine.ts";

export const CREATED_MS = 1_700_000_000_000;

export function tinyText(): TextModel {
  const { tokenizer, config } = tinyTokenizer();
  return {
    tokenizer: new Tokenizer(tokenizer, config),
    chatTemplate: new ChatTemplate(config["chat_template"] as string),
    responseFamily: "hermes",
    stopIds: [END_ID],
    contextLength: 256,
    vocabularySize: tinyConfig.vocabularySize,
  };
}

export interface Harness {
  app: Hono<{ Variables: { requestId: string } }>;
  engine: FakeEngine;
  text: TextModel;
  errors: unknown[];
  post: (path: string, body: unknown) => Promise<Response>;
}

/** The app over an engine that plays a script. */
export function serveScript(script: Script, info: Partial<ServeInfo> = {}): Harness {
  const engine = new FakeEngine(script);
  const text = info.text ?? tinyText();
  const errors: unknown[] = [];
  let ids = 0;
  const app = createServeApp(engine, {
    text,
    models: ["haiku"],
    now: () => CREATED_MS,
    newId: () => `id${++ids}`,
    newSeed: () => 42,
    onError: (error) => errors.push(error),
    ...info,
  });
  const post = async (path: string, body: unknown, init: RequestInit = {}): Promise<Response> =>
    app.request(path, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...init,
    });
  return { app, engine, text, errors, post };
}

/** Says a text token by token, then the end token. */
export function say(text: string, reason: "stop" | "length" = "stop"): Script {
  const { tokenizer } = tinyText();
  return (_request, emit) => {
    for (const id of tokenizer.encode(text)) emit(id);
    if (reason === "stop") emit(END_ID);
    return Promise.resolve(reason);
  };
}

/** The JSON of each event of a stream, and what is left after it. */
export function readEvents(body: string): { events: Record<string, unknown>[]; tail: string } {
  const frames = body.split("\n\n");
  const data = frames.filter((frame) => frame.startsWith("data: {"));
  return {
    events: data.map((frame) => JSON.parse(frame.slice(6)) as Record<string, unknown>),
    tail: frames.slice(-2).join("\n\n"),
  };
}

export interface Served {
  engine: EngineApi;
  text: TextModel;
  url: string;
  client: OpenAI;
  /** Ends everything, and says what went wrong inside meanwhile. */
  close: () => Promise<void>;
}

/** A model served by the real engine behind a real port, and a stock client of it. */
export async function serveModel(modelDir: string, name: string, slots: number): Promise<Served> {
  const [engine, text] = await Promise.all([
    startEngine({ modelDir, threads: 1, slots }),
    loadTextModel(modelDir),
  ]);
  const failures: unknown[] = [];
  let ids = 0;
  const app = createServeApp(engine, {
    text,
    models: [name],
    now: () => Date.now(),
    newId: () => `${++ids}`,
    newSeed: () => 1,
    onError: (error) => failures.push(error),
  });
  const server = await listen(app);
  return {
    engine,
    text,
    url: server.url,
    client: new OpenAI({ baseURL: server.url, apiKey: "none", maxRetries: 0 }),
    async close() {
      await server.close();
      await engine.close();
      expect(failures).toEqual([]);
    },
  };
}

/** The app behind a real port. */
export async function listen(app: Harness["app"]): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
