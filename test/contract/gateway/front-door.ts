import { expect } from "vitest";
import type { CreatedKey } from "../../../sdk/schema/key.ts";
import type { OpenAiErrorBody } from "../../../sdk/schema/chat.ts";
import { jsonReply, type EngineRequest } from "../../fakes/engine/engine.ts";
import { vllmAnswer, vllmStream } from "../../fakes/engine/vllm.ts";
import { ADMIN_KEY } from "../../fakes/control-plane.ts";
import { CHAT, servedOnce, type Host } from "../../fakes/served.ts";

export interface Ask {
  /** Default POST. */
  method?: string;
  /** Default chat. */
  path?: string;
  body?: string | Uint8Array;
  /** Null: none. Default: the admin's. */
  key?: string | null;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** What reached the engine. */
  asked: EngineRequest[];
}

export interface FrontDoor extends Awaited<ReturnType<typeof servedOnce>> {
  ask(host: Host, ask: Ask): Promise<Answer>;
  newKey(more?: object): Promise<CreatedKey>;
}

/** An endpoint "base" that answers "hello", for requests written by hand. */
export async function frontDoor(): Promise<FrontDoor> {
  const gym = await servedOnce();
  return {
    ...gym,
    async ask(host, { method = "POST", path = CHAT, body, key = ADMIN_KEY, headers }) {
      gym.play(({ body: sent }) =>
        sent["stream"] === true ? { steps: vllmStream(["a"]) } : jsonReply(vllmAnswer("hello")),
      );
      const init: RequestInit = {
        method,
        headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...headers },
        ...(body !== undefined && { body: Buffer.from(body) }),
      };
      const response = await (host === "app"
        ? gym.plane.app.request(path, init)
        : fetch(gym.base + path, init));
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        text,
        asked: gym.engines[0]?.requests ?? [],
      };
    },
    newKey: (more = {}) => gym.plane.json("POST", "/keys", { name: "test", scope: "chat", ...more }),
  };
}

/** A chat request for "base" as JSON. */
export function hi(more: object = {}): string {
  return JSON.stringify({ model: "base", messages: [{ role: "user", content: "hi" }], ...more });
}

/** The error an answer tells, in the one shape that clients read. */
export function errorOf({ headers, text }: Pick<Answer, "headers" | "text">): OpenAiErrorBody["error"] {
  expect(headers.get("content-type")).toMatch(/^application\/json/);
  expect(headers.get("x-request-id")).toBeTruthy();
  const body = JSON.parse(text) as OpenAiErrorBody;
  expect(Object.keys(body)).toEqual(["error"]);
  expect(Object.keys(body.error).sort()).toEqual(["code", "message", "param", "type"]);
  return body.error;
}
