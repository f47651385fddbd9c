import { describe, expect, it } from "vitest";
import { readEvents, say, serveScript, type Harness } from "./harness.ts";
import { answer, chat, hello, hermes, textOf, tool, withTools, type Choice } from "./tool-harness.ts";

/** What a client has when it puts the deltas of the first choice together. */
async function streamed(harness: Harness, body: object): Promise<Choice & { deltas: object[] }> {
  const { events } = readEvents(await (await chat(harness, { ...body, stream: true })).text());
  const choices = events.flatMap(
    (event) => event["choices"] as { delta: Delta; finish_reason: string | null }[],
  );
  const message = {
    content: "",
    tool_calls: [] as { id: string; function: { name: string; arguments: string } }[],
  };
  for (const { delta } of choices) {
    message.content += delta.content ?? "";
    for (const { index, id, function: called } of delta.tool_calls ?? []) {
      if (id !== undefined)
        message.tool_calls[index] = { id, function: { name: called.name ?? "", arguments: "" } };
      const call = message.tool_calls[index];
      if (call !== undefined) call.function.arguments += called.arguments;
    }
  }
  const finish = choices.flatMap((choice) => choice.finish_reason ?? []);
  expect(finish).toHaveLength(1);
  return { message, finish_reason: finish[0] ?? "", deltas: choices.map(({ delta }) => delta) };
}

interface Delta {
  content?: string;
  tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[];
}

const F = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>';
const G = '<tool_call>{"name": "g"}</tool_call>';

describe("tool calls", () => {
  it("S6 come as id, type and name, then as fragments; each call has its index", async () => {
    const { deltas, message, finish_reason: reason } = await streamed(hermes(F + G), withTools);
    const calls = deltas.flatMap((delta) => (delta as Delta).tool_calls ?? []);
    expect(calls[0]).toEqual({
      index: 0,
      id: expect.stringMatching(/^call_/) as string,
      type: "function",
      function: { name: "f", arguments: "" },
    });
    expect(calls.slice(1, -2).every((call) => call.index === 0 && Object.keys(call).length === 2)).toBe(true);
    expect(calls.filter(({ id }) => id !== undefined).map(({ index }) => index)).toEqual([0, 1]);
    expect(message.tool_calls).toMatchObject([
      { function: { name: "f", arguments: '{"a": 1}' } },
      { function: { name: "g", arguments: "{}" } },
    ]);
    expect(reason).toBe("tool_calls");
  });

  it("have ids of their own in each choice", async () => {
    const response = await chat(hermes(F + G), { ...withTools, n: 2 });
    const { choices } = (await response.json()) as { choices: Choice[] };
    const ids = choices.flatMap(({ message }) => message.tool_calls?.map(({ id }) => id) ?? []);
    expect(new Set(ids).size).toBe(4);
  });

  it("are the same whole as streamed, with null content", async () => {
    const { message, finish_reason: reason } = await answer(hermes(F), withTools);
    expect(message).toMatchObject({
      content: null,
      tool_calls: [{ function: { name: "f", arguments: '{"a": 1}' } }],
    });
    expect(reason).toBe("tool_calls");
  });

  it("are one at most without parallel_tool_calls, and the engine stops there", async () => {
    const script = say(F + G);
    const harness = serveScript(
      async (request, emit, signal) => {
        await script(request, (...ids) => (signal.aborted ? undefined : emit(...ids)), signal);
        return new Promise(() => undefined);
      },
      { text: textOf("<tool_call>") },
    );
    const body = { ...withTools, parallel_tool_calls: false };
    for (const { message, finish_reason: reason } of [
      await answer(harness, body),
      await streamed(harness, body),
    ]) {
      expect(message.tool_calls).toHaveLength(1);
      expect(reason).toBe("tool_calls");
    }
    expect(harness.engine.aborted).toBe(2);
  });

  it("that are cut off keep what there is, and end with length", async () => {
    const cut = F.slice(0, F.indexOf("1"));
    for (const { message, finish_reason: reason } of [
      await answer(hermes(cut, "length"), withTools),
      await streamed(hermes(cut, "length"), withTools),
    ]) {
      expect(message.tool_calls).toMatchObject([{ function: { name: "f", arguments: '{"a": ' } }]);
      expect(reason).toBe("length");
    }
  });

  it("that are malformed are content; in a stream, what was told of stays told", async () => {
    const none = "<tool_call>{f: 1}</tool_call>";
    for (const { message, finish_reason: reason } of [
      await answer(hermes(none), withTools),
      await streamed(hermes(none), withTools),
    ]) {
      expect(message.content).toBe(none);
      expect(reason).toBe("stop");
    }
    const broken = '<tool_call>{"name": "f", "arguments": {"a": oh}}</tool_call>';
    const whole = await answer(hermes(broken), withTools);
    expect(whole).toMatchObject({ message: { content: broken }, finish_reason: "stop" });
    expect(whole.message.tool_calls).toBeUndefined();
    expect((await streamed(hermes(broken), withTools)).message.tool_calls).toMatchObject([
      { function: { name: "f", arguments: '{"a": oh}' } },
    ]);
  });

  it("of Llama are told from JSON that is an answer", async () => {
    const llama = (said: string): Harness =>
      serveScript(say(said), { text: textOf('{"parameters"}', "llama") });
    const call = await answer(llama('{"name": "f", "parameters": {"a": 1}}'), withTools);
    expect(call).toMatchObject({
      message: { content: null, tool_calls: [{ function: { name: "f", arguments: '{"a": 1}' } }] },
      finish_reason: "tool_calls",
    });
    const data = '{"name": "Ann", "parameters": {}}';
    expect((await answer(llama(data), withTools)).message.content).toBe(data);
  });
});

describe("tool_choice", () => {
  const promptOf = (harness: Harness): string =>
    harness.text.tokenizer.decode(harness.engine.requests[0]?.promptIds ?? []);

  it("auto leaves the answer free; none keeps the tools from the model", async () => {
    const auto = hermes("x");
    await answer(auto, withTools);
    expect(promptOf(auto)).toBe("[user]Hi<tool_call>2");
    expect(auto.engine.requests[0]?.grammar).toBeUndefined();
    const none = hermes(F);
    const { message, finish_reason: reason } = await answer(none, { ...withTools, tool_choice: "none" });
    expect(promptOf(none)).toBe("[user]Hi");
    expect(message.content).toBe(F);
    expect(reason).toBe("stop");
  });

  it("auto keeps calls of strict tools to their schemas", async () => {
    const harness = hermes("x");
    const strict = {
      type: "function",
      function: { name: "f", strict: true, parameters: { type: "object" } },
    };
    await answer(harness, { ...hello, tools: [strict] });
    expect(harness.engine.requests[0]?.grammar?.root).toEqual({ all: [{ rule: "free0" }] });
  });

  it("required asks the engine for a call, and ends with tool_calls", async () => {
    const harness = hermes(F);
    const { finish_reason: reason } = await answer(harness, { ...withTools, tool_choice: "required" });
    expect(reason).toBe("tool_calls");
    expect(JSON.stringify(harness.engine.requests[0]?.grammar)).toContain('\\"name\\": \\"g\\"');
  });

  it("of a name asks the engine for that call, and ends with stop", async () => {
    const harness = hermes(F);
    const choice = { type: "function", function: { name: "f" } };
    expect((await answer(harness, { ...withTools, tool_choice: choice })).finish_reason).toBe("stop");
    expect(JSON.stringify(harness.engine.requests[0]?.grammar)).not.toContain('\\"name\\": \\"g\\"');
  });

  it("lets a reasoning model reason first", async () => {
    const text = textOf("<tool_call><think>");
    const grammar = async (more: object): Promise<string> => {
      const harness = serveScript(say(F), { text });
      await answer(harness, { ...withTools, tool_choice: "required", ...more });
      return JSON.stringify(harness.engine.requests[0]?.grammar?.root);
    };
    expect(await grammar({})).toContain("thought0");
    expect(await grammar({ chat_template_kwargs: { enable_thinking: false } })).not.toContain("thought0");
  });

  it.each<[string, object, string | null, string]>([
    ["E19 that is required without tools", { ...hello, tool_choice: "required" }, null, "tool_choice"],
    ["E19 that is auto without tools", { ...hello, tool_choice: "auto" }, null, "tool_choice"],
    [
      "E19 of a tool that is not there",
      { ...withTools, tool_choice: { type: "function", function: { name: "h" } } },
      null,
      "tool_choice",
    ],
    ["E10 that is none of them", { ...withTools, tool_choice: "any" }, "invalid_value", "tool_choice"],
    [
      "of tools with impossible names",
      { ...hello, tools: [tool("a b")] },
      "invalid_value",
      "tools[0].function.name",
    ],
    ["in the old form", { ...hello, functions: [{ name: "f" }] }, "unsupported_parameter", "functions"],
  ])("is refused: %s", async (_, body, code, param) => {
    const response = await chat(hermes("x"), body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", code, param } });
  });

  it("cannot force a model whose template shows no calls", async () => {
    const response = await chat(serveScript(say("x"), { text: textOf("") }), {
      ...withTools,
      tool_choice: "required",
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "unsupported_value", param: "tool_choice" },
    });
  });

  it("is taken with an empty list of tools, which is none", async () => {
    expect((await answer(hermes("x"), { ...hello, tools: [], tool_choice: "auto" })).message.content).toBe(
      "x",
    );
  });
});
