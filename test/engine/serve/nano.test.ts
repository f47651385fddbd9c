import type OpenAI from "openai";
import type { ChatCompletionCreateParamsNonStreaming, ChatCompletionMessageParam } from "openai/resources";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveModel, type Served } from "./harness.ts";

const MODEL = new URL("../../../engine/models/nano", import.meta.url).pathname;

const number = { type: "number" };
const integer = { type: "integer", minimum: 0, maximum: 99 };
const add: OpenAI.ChatCompletionFunctionTool = {
  type: "function",
  function: {
    name: "add",
    description: "Adds two numbers.",
    parameters: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
  },
};
const paint: OpenAI.ChatCompletionFunctionTool = {
  type: "function",
  function: {
    name: "paint",
    parameters: {
      type: "object",
      properties: { color: { enum: ["red", "blue"] }, coats: integer },
      required: ["color"],
    },
  },
};
const user = (content: string): ChatCompletionMessageParam => ({ role: "user", content });
const base = { model: "nano", temperature: 0, seed: 1, max_tokens: 120 };

let served: Served;
let client: OpenAI;
beforeAll(async () => {
  served = await serveModel(MODEL, "nano", 8);
  client = served.client;
});
afterAll(() => served.close());

async function say(
  extra: Partial<ChatCompletionCreateParamsNonStreaming>,
): Promise<OpenAI.ChatCompletion.Choice> {
  const { choices } = await client.chat.completions.create({
    ...base,
    messages: [user("What is 3 + 4?")],
    ...extra,
  });
  const [choice] = choices;
  if (choice === undefined) throw new Error("no choice");
  return choice;
}

function callOf({ message }: OpenAI.ChatCompletion.Choice): { name: string; input: Record<string, unknown> } {
  const call = message.tool_calls?.[0];
  if (call?.type !== "function") throw new Error(`no call: ${JSON.stringify(message)}`);
  return { name: call.function.name, input: JSON.parse(call.function.arguments) as Record<string, unknown> };
}

describe("spotter/nano with tools", () => {
  it("calls a tool by itself, and takes its answer with the result sent back", async () => {
    const first = await say({ tools: [add] });
    expect(first.finish_reason).toBe("tool_calls");
    expect(first.message.content).toBeNull();
    expect(callOf(first).name).toBe("add");
    const [call] = first.message.tool_calls ?? [];
    const messages = [
      user("What is 3 + 4?"),
      first.message,
      { role: "tool" as const, tool_call_id: call?.id ?? "", content: "7" },
    ];
    const second = await say({ messages, tools: [add] });
    expect(second.message.content).toContain("7");
    expect(second.finish_reason).toBe("stop");
  });

  it("must call where tool_choice is required, under the tool's schema, at any temperature", async () => {
    const { choices } = await client.chat.completions.create({
      ...base,
      temperature: 1.5,
      n: 8,
      messages: [user("Write a haiku about rain.")],
      tools: [add, paint],
      tool_choice: "required",
      parallel_tool_calls: false,
    });
    expect(choices).toHaveLength(8);
    for (const choice of choices) {
      expect(choice.finish_reason).toBe("tool_calls");
      expect(choice.message.tool_calls).toHaveLength(1);
      const { name, input } = callOf(choice);
      if (name === "paint") expect(["red", "blue"]).toContain(input["color"]);
      else expect([name, Object.keys(input)]).toEqual(["add", ["a", "b"]]);
    }
  });

  it("calls the tool that is named, and ends with stop", async () => {
    const choice = await say({
      tools: [add, paint],
      tool_choice: { type: "function", function: { name: "paint" } },
    });
    expect(choice.finish_reason).toBe("stop");
    expect(choice.message.tool_calls).toHaveLength(1);
    expect(callOf(choice).name).toBe("paint");
  });

  it("S6 is read by the client's stream helper: the same call, whole and in events", async () => {
    const body = { ...base, messages: [user("What is 3 + 4?")], tools: [add] };
    const stream = client.chat.completions.stream(body);
    const deltas: string[] = [];
    stream.on("tool_calls.function.arguments.delta", ({ arguments_delta: delta }) => deltas.push(delta));
    const message = await stream.finalMessage();
    const whole = await say({ tools: [add] });
    const [call] = message.tool_calls ?? [];
    const [expected] = whole.message.tool_calls ?? [];
    expect(call).toMatchObject({
      type: "function",
      function: expected && "function" in expected && expected.function,
    });
    expect(deltas.filter((delta) => delta !== "").length).toBeGreaterThan(1);
    expect((await stream.finalChatCompletion()).choices[0]?.finish_reason).toBe("tool_calls");
  });

  it("S6 is run by the client's tool runner, to the answer after the call", async () => {
    const calls: unknown[] = [];
    const runner = client.chat.completions.runTools({
      ...base,
      stream: true,
      messages: [user("What is 3 + 4?")],
      tools: [
        {
          type: "function",
          function: {
            name: "add",
            description: "Adds two numbers.",
            parameters: add.function.parameters ?? {},
            parse: JSON.parse as (text: string) => object,
            function: (input: object) => {
              calls.push(input);
              return "7";
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain("7");
    expect(calls).toHaveLength(1);
  });
});

describe("spotter/nano with reasoning", () => {
  const thinking = {
    messages: [user("Write a haiku about rain.")],
    chat_template_kwargs: { enable_thinking: true },
  };

  it("S7 tells it apart, whole and streamed", async () => {
    const whole = (await say(thinking)).message as { reasoning_content?: string; content: string | null };
    expect(whole.reasoning_content).toBeTruthy();
    expect(whole.content).not.toContain("think>");
    const stream = await client.chat.completions.create({ ...base, ...thinking, stream: true });
    const said = { reasoning_content: "", content: "" };
    for await (const chunk of stream) {
      const delta = chunk.choices[0]?.delta as { reasoning_content?: string; content?: string } | undefined;
      said.reasoning_content += delta?.reasoning_content ?? "";
      said.content += delta?.content ?? "";
    }
    expect(said).toEqual({ reasoning_content: whole.reasoning_content, content: whole.content });
  });

  it("may reason before JSON", async () => {
    const schema = {
      type: "object",
      properties: { lines: { type: "integer", minimum: 0, maximum: 9 } },
      required: ["lines"],
    };
    const choice = await say({
      ...thinking,
      response_format: { type: "json_schema", json_schema: { name: "x", schema } },
    });
    expect(choice.message).toMatchObject({ reasoning_content: expect.any(String) as string });
    expect(JSON.parse(choice.message.content ?? "")).toEqual({ lines: expect.any(Number) as number });
  });
});

describe("spotter/nano with a response format", () => {
  const schema = {
    type: "object",
    properties: {
      title: { type: "string", maxLength: 12 },
      stars: { type: "integer", minimum: 1, maximum: 5 },
      tags: { type: "array", items: { enum: ["a", "b"] }, maxItems: 2 },
    },
    required: ["title", "stars", "tags"],
    additionalProperties: false,
  };

  it("answers in JSON under the schema, at any temperature", async () => {
    const { choices } = await client.chat.completions.create({
      ...base,
      temperature: 1.5,
      max_tokens: 300,
      n: 8,
      messages: [user("Write a haiku about rain.")],
      response_format: { type: "json_schema", json_schema: { name: "review", strict: true, schema } },
    });
    for (const { message, finish_reason: reason } of choices) {
      expect(reason).toBe("stop");
      const value = JSON.parse(message.content ?? "") as { title: string; stars: number; tags: string[] };
      expect(Object.keys(value)).toEqual(["title", "stars", "tags"]);
      expect([...value.title].length).toBeLessThanOrEqual(12);
      expect([1, 2, 3, 4, 5]).toContain(value.stars);
      expect(value.tags.every((tag) => ["a", "b"].includes(tag))).toBe(true);
    }
  });

  it("answers with an object, or with the beginning of one and length", async () => {
    const { choices } = await client.chat.completions.create({
      ...base,
      temperature: 1,
      n: 4,
      max_tokens: 60,
      messages: [user("Write a haiku about rain.")],
      response_format: { type: "json_object" },
    });
    for (const { message, finish_reason: reason } of choices) {
      expect(message.content?.startsWith("{")).toBe(true);
      if (reason === "stop") expect(typeof JSON.parse(message.content ?? "")).toBe("object");
      else expect(reason).toBe("length");
    }
  });

  it("says where a schema is more than it can keep to", async () => {
    const pattern = { type: "object", properties: { a: { type: "string", pattern: "^x" } } };
    const format = { type: "json_schema" as const, json_schema: { name: "x", schema: pattern } };
    await expect(say({ response_format: format })).rejects.toMatchObject({
      status: 400,
      param: "response_format.json_schema.schema.properties.a.pattern",
    });
  });
});
