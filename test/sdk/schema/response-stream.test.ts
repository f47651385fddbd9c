import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ResponseStream,
  type ResponseStreamOptions,
  type StreamPart,
} from "../../../sdk/schema/response-stream.ts";

/** Neighbours of one kind joined: what a client has when it put the deltas together. */
function joined(parts: readonly StreamPart[]): StreamPart[] {
  const whole: StreamPart[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (last !== undefined && "text" in last && "text" in part && last.type === part.type)
      last.text += part.text;
    else whole.push({ ...part });
  }
  return whole;
}

function read(pieces: readonly string[], options: ResponseStreamOptions = {}): StreamPart[] {
  const stream = new ResponseStream(options);
  return joined([...pieces.flatMap((piece) => stream.push(piece)), ...stream.end()]);
}

const complete = (raw: string): StreamPart => ({ type: "call-end", how: "complete", raw, rest: "" });

describe("S6 tool calls in a stream", () => {
  it("tells the name when the arguments begin, and each fragment as it comes", () => {
    const stream = new ResponseStream();
    const pushes = [
      "<tool_",
      'call>{"na',
      'me": "ad',
      'd", "arguments": ',
      '{"a"',
      ": 1,",
      ' "b": [2]}',
      "}",
    ];
    expect(pushes.map((piece) => stream.push(piece))).toEqual([
      [],
      [],
      [],
      [],
      [
        { type: "call", name: "add" },
        { type: "arguments", text: '{"a"' },
      ],
      [{ type: "arguments", text: ": 1," }],
      [{ type: "arguments", text: ' "b": [2]}' }],
      [complete('<tool_call>{"name": "add", "arguments": {"a": 1, "b": [2]}}')],
    ]);
    expect([...stream.push("\n</tool"), ...stream.push("_call>"), ...stream.end()]).toEqual([]);
  });

  it.each<[string, string, string, string]>([
    [
      "as written",
      '{"name": "f", "arguments": {"a":  1.50, "\\u00e9": "é"}}',
      "f",
      '{"a":  1.50, "\\u00e9": "é"}',
    ],
    ["before the name", '{"arguments": {"a": 1}, "name": "f"}', "f", '{"a": 1}'],
    [
      "with members that say something else",
      '{"id": [{}], "name": "f", "parameters": {}, "x": 1}',
      "f",
      "{}",
    ],
    ["that are absent", '{"name": "f"}', "f", "{}"],
    ["that are null", '{"name": "f", "arguments": null}', "f", "{}"],
    ["once more as a string", '{"name": "f", "arguments": "{\\"a\\": 1}"}', "f", '{"a": 1}'],
    ["that are a string", '{"name": "f", "arguments": "x"}', "f", '"x"'],
    ["that are a number", '{"name": "f", "arguments": 12}', "f", "12"],
    [
      "with tags and braces in strings",
      '{"name": "f", "arguments": {"a": "</tool_call>}\\"{"}}',
      "f",
      '{"a": "</tool_call>}\\"{"}',
    ],
  ])("has arguments %s", (_, body, name, text) => {
    const written = `<tool_call>\n${body}\n</tool_call>`;
    expect(read([written])).toEqual([
      { type: "call", name },
      { type: "arguments", text },
      complete(`<tool_call>\n${body}`),
    ]);
  });

  it("takes several calls with text between, and a call whose tag is missing", () => {
    const [f, g] = ['<tool_call>{"name": "f"}', '<tool_call>{"name": "g", "arguments": {}}'];
    const call = (name: string, raw: string): StreamPart[] => [
      { type: "call", name },
      { type: "arguments", text: "{}" },
      complete(raw),
    ];
    expect(read([`Sure.\n${f}</tool_call> and\n ${g}`])).toEqual([
      { type: "content", text: "Sure." },
      ...call("f", `\n${f}`),
      { type: "content", text: "and" },
      ...call("g", `\n ${g}`),
    ]);
  });

  it.each([
    "<tool_call>{name: f}</tool_call>",
    'Yes <tool_call>{"name": 3, "arguments": {}}</tool_call> no',
    '<tool_call>{"name": ""}</tool_call>',
    "<tool_call>[]</tool_call>",
    '<tool_call>{"arguments": {"a": 1}}</tool_call>',
    'a\n<tool_call>{"name": "f"',
    "<tool_call>",
    "<tool_call></tool_call>",
    '<tool_call>{"name": "f", "arguments": }</tool_call>',
    "1 < 2 <tool_ca",
  ])("leaves what is no call in the content: %s", (text) => {
    expect(read([text])).toEqual([{ type: "content", text }]);
  });

  it("finds the call after one that is none", () => {
    const good = '<tool_call>{"name": "f"}';
    expect(read([`<tool_call>oh ${good}</tool_call>`])).toEqual([
      { type: "content", text: "<tool_call>oh" },
      { type: "call", name: "f" },
      { type: "arguments", text: "{}" },
      complete(` ${good}`),
    ]);
  });

  it("goes on with arguments that break after they were told of, and keeps the call as written", () => {
    const raw = '<tool_call>{"name": "f", "arguments": {"a": oh}}\n</tool_call>';
    expect(read([`${raw}\nWell.`])).toEqual([
      { type: "call", name: "f" },
      { type: "arguments", text: '{"a": oh}' },
      { type: "call-end", how: "malformed", raw, rest: "" },
      { type: "content", text: "Well." },
    ]);
    const after = '<tool_call>{"name": "f", "arguments": {} oh}</tool_call>';
    expect(read([after]).at(-1)).toEqual({
      type: "call-end",
      how: "malformed",
      raw: after,
      rest: "oh}</tool_call>",
    });
  });

  it("says so when the answer ends within the arguments", () => {
    const raw = '<tool_call>{"name": "f", "arguments": {"a": "x';
    expect(read([raw])).toEqual([
      { type: "call", name: "f" },
      { type: "arguments", text: '{"a": "x' },
      { type: "call-end", how: "cut", raw, rest: "" },
    ]);
  });

  it("ends after the first call where one is wanted", () => {
    const stream = new ResponseStream({ single: true });
    const parts = stream.push('<tool_call>{"name": "f"}</tool_call><tool_call>{"name": "g"}</tool_call>');
    expect(parts.filter(({ type }) => type === "call")).toEqual([{ type: "call", name: "f" }]);
    expect(stream.over).toBe(true);
    expect([...stream.push("more"), ...stream.end()]).toEqual([]);
  });
});

describe("S6 Llama's calls", () => {
  const llama = { family: "llama" as const, toolNames: ["f", "g"] };

  it.each(["", " \n", "<|python_tag|>"])("begin the answer, after %j", (opening) => {
    const raw = `${opening}{"name": "f", "parameters": {"a": 1}}`;
    expect(read([raw], llama)).toEqual([
      { type: "call", name: "f" },
      { type: "arguments", text: '{"a": 1}' },
      complete(raw),
    ]);
  });

  it("follow each other with a semicolon between", () => {
    expect(read(['{"name": "f"}; {"name": "g"}'], llama).filter(({ type }) => type === "call")).toEqual([
      { type: "call", name: "f" },
      { type: "call", name: "g" },
    ]);
  });

  it.each([
    ' {"name": "Ann", "parameters": {"age": 3}}',
    '{"a": 1}',
    'Say {"name": "f", "parameters": {}}',
    '<|python_tag|>brave_search.call(query="x")',
    "<|python",
    "  ",
    "<think>Hm</think>",
  ])("are not: %s", (text) => {
    expect(read([text], llama)).toEqual([{ type: "content", text }]);
  });

  it("may have any name after the tag", () => {
    expect(read(['<|python_tag|>{"name": "h"}'], llama)[0]).toEqual({ type: "call", name: "h" });
  });

  it("are text where no tools are", () => {
    const text = '{"name": "f", "parameters": {}}';
    expect(read([text], { family: "llama", tools: false })).toEqual([{ type: "content", text }]);
  });
});

describe("S7 reasoning in a stream", () => {
  it("is told apart as it comes, whether the answer or the prompt opens it", () => {
    const stream = new ResponseStream();
    expect(["<thi", "nk>\nHm", " so</th", "ink>\n\nYes"].map((piece) => stream.push(piece))).toEqual([
      [],
      [{ type: "reasoning", text: "Hm" }],
      [{ type: "reasoning", text: " so" }],
      [{ type: "content", text: "Yes" }],
    ]);
    expect(read(["\nHm\n</think>\nYes"], { startsInReasoning: true })).toEqual([
      { type: "reasoning", text: "Hm" },
      { type: "content", text: "Yes" },
    ]);
    expect(read(["Hm"], { startsInReasoning: true })).toEqual([{ type: "reasoning", text: "Hm" }]);
  });
});

const snippets = fc.constantFrom(
  "<think>",
  "</think>",
  "<tool_call>",
  "</tool_call>",
  "<|python_tag|>",
  '{"name": "f", "arguments": ',
  '{"name": "f", "parameters": {"a": [1, "<"]}}',
  '{"a": "x\\n"}',
  '{"a": oh}',
  "}",
  "{",
  '"',
  ", ",
  "; ",
  " ",
  "\n",
  "<",
  "word",
  "12",
  "é🍁",
);
const texts = fc.array(snippets, { maxLength: 12 }).map((items) => items.join(""));
const settings = fc.record({
  family: fc.constantFrom("hermes" as const, "llama" as const, "plain" as const),
  tools: fc.boolean(),
  toolNames: fc.constantFrom(undefined, ["f"], ["g"]),
  startsInReasoning: fc.boolean(),
});

describe("any answer", () => {
  it("gives the same parts however it is cut into pieces", () => {
    fc.assert(
      fc.property(texts, settings, (text, options) => {
        const whole = read([text], options);
        expect(read([...text], options)).toEqual(whole);
        for (let at = 0; at <= text.length; at++) {
          expect(read([text.slice(0, at), text.slice(at)], options)).toEqual(whole);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("loses nothing but tags and white space around them", () => {
    const bare = (text: string): string => text.replaceAll(/<\/?(think|tool_call)>|\s|;/g, "");
    fc.assert(
      fc.property(texts, settings, (text, options) => {
        const parts = read([text], options);
        const said = parts.map((part) => {
          if (part.type === "call-end") return part.raw;
          return part.type === "content" || part.type === "reasoning" ? part.text : "";
        });
        expect(bare(said.join(""))).toBe(bare(text));
      }),
      { numRuns: 500 },
    );
  });

  it("has a name, arguments and one end for each call", () => {
    fc.assert(
      fc.property(texts, settings, (text, options) => {
        const order = read([text], options)
          .map(({ type }) => type)
          .filter((type) => type !== "content" && type !== "reasoning")
          .join(" ");
        expect(order).toMatch(/^(call arguments call-end ?)*$/);
        for (const part of read([text], options)) {
          if (part.type === "call-end" && part.how === "complete") {
            expect(part.raw).toContain('"name"');
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
