import { describe, expect, it } from "vitest";
import { Acceptor, type AcceptorState } from "../../../../engine/onnx/sample/constraint/acceptor.ts";
import { JSON_RULES } from "../../../../engine/onnx/sample/constraint/json-grammar.ts";
import {
  callsGrammar,
  freeGrammar,
  toolStyleOf,
  type Parts,
  type ToolStyle,
} from "../../../../engine/serve/output/tool-grammar.ts";

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = { type: "function" as const, function: { name: "weather", parameters: city } };
const stop = { type: "function" as const, function: { name: "stop" } };

function accepting(
  style: ToolStyle,
  options: { single?: boolean; tools?: (typeof weather | typeof stop)[] } = {},
): (text: string) => boolean {
  const tools = (options.tools ?? [weather, stop]).map((tool, index) => ({ tool, index }));
  return acceptingParts(callsGrammar(tools, style, options.single ?? false));
}

function acceptingParts({ node, rules }: Parts): (text: string) => boolean {
  const acceptor = new Acceptor({ root: node, rules: { ...JSON_RULES, ...rules } });
  return (text) => {
    let at: AcceptorState | undefined = acceptor.start;
    for (const byte of new TextEncoder().encode(text)) at = at && acceptor.next(at, byte);
    return at?.accepts ?? false;
  };
}

describe("callsGrammar", () => {
  const paris = '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>';
  const end = '<tool_call>\n{"name": "stop", "arguments": {}}\n</tool_call>';

  it("takes one or several calls of the tools, under their schemas", () => {
    const accepts = accepting("hermes");
    for (const text of [paris, end, paris + end, `${end}\n${paris}\n${end}`])
      expect(accepts(text)).toBe(true);
    for (const text of [
      "",
      "Paris",
      `${paris} `,
      '<tool_call>{"name": "weather", "arguments": {}}</tool_call>',
      '<tool_call>{"name": "other", "arguments": {}}</tool_call>',
      '<tool_call>{"name": "stop", "arguments": {"a": 1}}</tool_call>',
    ])
      expect(accepts(text)).toBe(false);
  });

  it("takes one call where one is wanted", () => {
    const accepts = accepting("hermes", { single: true });
    expect([accepts(paris), accepts(paris + end)]).toEqual([true, false]);
  });

  it("writes Llama's calls", () => {
    const accepts = accepting("llama");
    expect(accepts('{"name": "weather", "parameters": {"city": "Paris"}}')).toBe(true);
    expect(accepts(paris)).toBe(false);
  });

  it("leaves arguments any object where a schema is unknown, unless it is strict", () => {
    const parameters = { ...city, oneOf: [] };
    const loose = { type: "function" as const, function: { name: "weather", parameters } };
    const strict = { type: "function" as const, function: { ...loose.function, strict: true } };
    expect(accepting("llama", { tools: [loose] })('{"name": "weather", "parameters": {"x": [1]}}')).toBe(
      true,
    );
    expect(() => accepting("llama", { tools: [stop, strict] })).toThrowError(
      expect.objectContaining({ param: "tools[1].function.parameters.oneOf" }) as Error,
    );
  });
});

describe("freeGrammar", () => {
  const tools = [{ tool: weather, index: 0 }];
  const paris = '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>';

  it("leaves text free, and keeps calls in it to their schemas", () => {
    const accepts = acceptingParts(freeGrammar(tools, "hermes", false));
    for (const text of ["", "Hi <tool_", "Hé", paris, `Sure.\n${paris} and ${paris}`])
      expect(accepts(text)).toBe(true);
    for (const text of ["<tool_call>", 'a<tool_call>{"name": "weather", "arguments": {}}</tool_call>'])
      expect(accepts(text)).toBe(false);
    const single = acceptingParts(freeGrammar(tools, "hermes", true));
    expect([single(paris), single(`a${paris}`), single(`${paris}a`)]).toEqual([true, true, false]);
  });

  it("takes for Llama a text, or a call", () => {
    const accepts = acceptingParts(freeGrammar(tools, "llama", false));
    for (const text of ["", "Hé {", '{"name": "weather", "parameters": {"city": ""}}'])
      expect(accepts(text)).toBe(true);
    for (const text of ['{"name": "weather", "parameters": {}}', ' {"a": 1}'])
      expect(accepts(text)).toBe(false);
  });
});

describe("toolStyleOf", () => {
  it.each([
    ["{{ '<tool_call>' }}", "hermes"],
    ["{{ '<|python_tag|>' }}", "llama"],
    ['{{ \'{"name": function name, "parameters": dictionary}\' }}', "llama"],
    ["{{ '<think>' }}{{ messages[0].content }}", undefined],
  ])("%s is %s", (template, style) => {
    expect(toolStyleOf(template)).toBe(style);
  });
});
