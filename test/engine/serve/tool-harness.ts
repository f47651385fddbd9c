import { expect } from "vitest";
import { ChatTemplate } from "../../../engine/onnx/text/chat-template.ts";
import type { TextModel } from "../../../engine/onnx/text/text-model.ts";
import type { ResponseFamily } from "../../../sdk/schema/response-stream.ts";
import { say, serveScript, tinyText, type Harness } from "./harness.ts";

const TURNS = "{%- for m in messages -%}[{{ m.role }}]{{ m.content }}{%- endfor -%}";

/** A model whose template shows one way to call. */
export function textOf(shown: string, family: ResponseFamily = "hermes"): TextModel {
  const chatTemplate = new ChatTemplate(`${TURNS}{%- if tools -%}${shown}{{ tools | length }}{%- endif -%}`);
  return { ...tinyText(), chatTemplate, responseFamily: family };
}

export const tool = (name: string): object => ({ type: "function", function: { name } });
export const hello = { model: "haiku", messages: [{ role: "user", content: "Hi" }] };
export const withTools = { ...hello, tools: [tool("f"), tool("g")] };
export const chat = (harness: Harness, body: object): Promise<Response> =>
  harness.post("/v1/chat/completions", body);
export const hermes = (said: string, reason: "stop" | "length" = "stop"): Harness =>
  serveScript(say(said, reason), { text: textOf("<tool_call>") });

export interface Choice {
  message: {
    content: string | null;
    reasoning_content?: string;
    tool_calls?: { id: string; function: object }[];
  };
  finish_reason: string;
}

export async function answer(harness: Harness, body: object): Promise<Choice> {
  const response = await chat(harness, body);
  expect(response.status).toBe(200);
  const { choices } = (await response.json()) as { choices: Choice[] };
  const [choice] = choices;
  if (choice === undefined) throw new Error("no choice");
  return choice;
}
