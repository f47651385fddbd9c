import { responseFamilyOf } from "../../../sdk/schema/parse-response.ts";
import { maybe, separated, type GrammarNode } from "../../onnx/sample/constraint/grammar.ts";
import { RequestError } from "../request-error.ts";
import { unsupportedSchema } from "./schema-error.ts";
import { SchemaGrammar } from "./schema-grammar.ts";
import { bytesWithout, textUntil } from "./text-until.ts";
import type { ChatTool } from "./tool-choice.ts";

/** Of the schemas of all tools: reading them holds up every other answer. */
const MOST_BYTES = 128 * 1024;

const CALL = "<tool_call>";

/** A part of a grammar, with the rules it needs. */
export interface Parts {
  node: GrammarNode;
  rules: Record<string, GrammarNode>;
}

/** How a model writes calls. */
export type ToolStyle = "hermes" | "llama";

/** Of the template, which shows the model how to call; undefined where it shows nothing that is known here. */
export function toolStyleOf(templateSource: string): ToolStyle | undefined {
  const family = responseFamilyOf(templateSource);
  if (family === "hermes") return templateSource.includes(CALL) ? "hermes" : undefined;
  return family === "llama" ? "llama" : undefined;
}

/**
 * Any text, in which calls are such as {@link callsGrammar} takes. For Llama, whose calls have no tag, a text
 * that begins as one must be one.
 */
export function freeGrammar(
  tools: readonly { tool: ChatTool; index: number }[],
  style: ToolStyle,
  single: boolean,
): Parts {
  const calls = callsGrammar(tools, style, single);
  const letter: GrammarNode = { bytes: [[0, 255]] };
  if (style === "llama") {
    const other: GrammarNode = {
      oneOf: [{ text: "" }, { all: [{ bytes: bytesWithout(BARE_STARTS) }, { many: letter }] }],
    };
    return { node: { oneOf: [calls.node, other] }, rules: calls.rules };
  }
  const after: GrammarNode = single ? { text: "" } : { rule: "free0" };
  const rules = textUntil(CALL, "free", { rest: { all: [{ rule: "call-body" }, after] }, mayEnd: true });
  return { node: { rule: "free0" }, rules: { ...calls.rules, ...rules } };
}

/** What a call without a tag may begin with: a brace, white space before it, and the tag it may have. */
const BARE_STARTS = [..."{ \n\r\t<"].map((letter) => letter.charCodeAt(0));

/**
 * Calls of some of the tools, with arguments under their schemas. A schema that is not `strict` and has
 * something unknown in it leaves the arguments any JSON object.
 *
 * @throws RequestError for a strict schema with something unknown in it.
 */
export function callsGrammar(
  tools: readonly { tool: ChatTool; index: number }[],
  style: ToolStyle,
  single: boolean,
): Parts {
  const rules: Record<string, GrammarNode> = {};
  const read = { bytes: 0 };
  const calls = tools.map(({ tool, index }) => {
    const parameters = argumentsGrammar(tool, index, read);
    Object.assign(rules, parameters.rules);
    return callGrammar(tool.function.name, parameters.node, style);
  });
  rules["call-body"] = { oneOf: calls };
  const call: GrammarNode =
    style === "llama" ? { rule: "call-body" } : { all: [{ text: CALL }, { rule: "call-body" }] };
  // Llama's templates refuse conversations with two calls in one message.
  return { node: single || style === "llama" ? call : separated(call, maybe({ text: "\n" })), rules };
}

/** Without the tag that begins it. */
function callGrammar(name: string, parameters: GrammarNode, style: ToolStyle): GrammarNode {
  const said = JSON.stringify(name);
  if (style === "llama")
    return { all: [{ text: `{"name": ${said}, "parameters": ` }, parameters, { text: "}" }] };
  const lineBreak = maybe({ text: "\n" });
  return {
    all: [
      lineBreak,
      { text: `{"name": ${said}, "arguments": ` },
      parameters,
      { text: "}" },
      lineBreak,
      { text: "</tool_call>" },
    ],
  };
}

/** `read`: the bytes of the schemas so far; one more that would be too many is taken as unknown. */
function argumentsGrammar({ function: described }: ChatTool, index: number, read: { bytes: number }): Parts {
  const { parameters, strict } = described;
  const nothing = { type: "object", properties: {}, additionalProperties: false };
  const schema = parameters ?? nothing;
  try {
    const path = `tools[${index}].function.parameters`;
    const grammar = new SchemaGrammar(schema, path, `tool${index}/`);
    if (read.bytes + grammar.bytes > MOST_BYTES)
      throw unsupportedSchema(path, `and those before have more than ${MOST_BYTES} bytes`);
    read.bytes += grammar.bytes;
    const node = grammar.node();
    return { node: schema["type"] === "object" ? node : { rule: "object" }, rules: grammar.rules };
  } catch (error) {
    if (strict === true || !(error instanceof RequestError)) throw error;
    return { node: { rule: "object" }, rules: {} };
  }
}
