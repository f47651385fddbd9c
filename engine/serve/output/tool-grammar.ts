import { maybe, separated, type GrammarNode } from "../../onnx/sample/constraint/grammar.ts";
import { RequestError } from "../request-error.ts";
import { SchemaGrammar } from "./schema-grammar.ts";
import type { ChatTool } from "./tool-choice.ts";

/** How a model writes calls. */
export type ToolStyle = "hermes" | "llama";

/** Of the template, which shows the model how to call; undefined where it shows nothing that is known here. */
export function toolStyleOf(templateSource: string): ToolStyle | undefined {
  if (templateSource.includes("<tool_call>")) return "hermes";
  if (templateSource.includes("<|python_tag|>") || templateSource.includes('"parameters"')) return "llama";
  return undefined;
}

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
): { node: GrammarNode; rules: Record<string, GrammarNode> } {
  const rules: Record<string, GrammarNode> = {};
  const calls = tools.map(({ tool, index }) => {
    const parameters = argumentsGrammar(tool, index);
    Object.assign(rules, parameters.rules);
    return callGrammar(tool.function.name, parameters.node, style);
  });
  rules["call"] = { oneOf: calls };
  const call = { rule: "call" };
  // Llama's templates refuse conversations with two calls in one message.
  return { node: single || style === "llama" ? call : separated(call, maybe({ text: "\n" })), rules };
}

function callGrammar(name: string, parameters: GrammarNode, style: ToolStyle): GrammarNode {
  const said = JSON.stringify(name);
  if (style === "llama")
    return { all: [{ text: `{"name": ${said}, "parameters": ` }, parameters, { text: "}" }] };
  const lineBreak = maybe({ text: "\n" });
  return {
    all: [
      { text: "<tool_call>" },
      lineBreak,
      { text: `{"name": ${said}, "arguments": ` },
      parameters,
      { text: "}" },
      lineBreak,
      { text: "</tool_call>" },
    ],
  };
}

function argumentsGrammar(
  { function: described }: ChatTool,
  index: number,
): { node: GrammarNode; rules: Record<string, GrammarNode> } {
  const { parameters, strict } = described;
  const nothing = { type: "object", properties: {}, additionalProperties: false };
  const schema = parameters ?? nothing;
  try {
    const grammar = new SchemaGrammar(schema, `tools[${index}].function.parameters`, `tool${index}/`);
    const node = grammar.node();
    return { node: schema["type"] === "object" ? node : { rule: "object" }, rules: grammar.rules };
  } catch (error) {
    if (strict === true || !(error instanceof RequestError)) throw error;
    return { node: { rule: "object" }, rules: {} };
  }
}
