import type { ChatRequest } from "../../../sdk/schema/chat.ts";
import { maybe, type Grammar, type GrammarNode } from "../../onnx/sample/constraint/grammar.ts";
import { JSON_RULES } from "../../onnx/sample/constraint/json-grammar.ts";
import type { ChatTemplate } from "../../onnx/text/chat-template.ts";
import { RequestError } from "../request-error.ts";
import { textUntil } from "./text-until.ts";
import type { ToolUse } from "./tool-choice.ts";
import { callsGrammar, freeGrammar, toolStyleOf, type Parts } from "./tool-grammar.ts";

/**
 * What an answer must be: calls where `tool_choice` forces them, else of the `format` asked for (or calls,
 * where there are tools), else anything, with calls of strict tools under their schemas. Undefined where
 * nothing has to be kept to. Reasoning comes before all of them.
 *
 * They are forced by masking: each token is drawn from those that a fitting answer can go on with.
 *
 * @throws RequestError where this model's calls are not known, or with the part of a schema that is not.
 */
export function answerGrammar(
  request: Pick<ChatRequest, "tools" | "chat_template_kwargs">,
  format: Parts | undefined,
  use: ToolUse,
  rendered: { template: ChatTemplate; prompt: string },
): Grammar | undefined {
  const { template, prompt } = rendered;
  const forced = use.forced && forcedGrammar(request, use.forced, use.single, template);
  const body = forced ?? chosenGrammar(request, format, use, template);
  if (body === undefined) return undefined;
  return {
    root: { all: [...reasoning(request, template, prompt), body.node] },
    rules: { ...JSON_RULES, ...textUntil("</think>", "thought"), ...body.rules },
  };
}

function forcedGrammar(
  request: Pick<ChatRequest, "tools">,
  forced: ToolUse["tools"],
  single: boolean,
  template: ChatTemplate,
): Parts {
  const style = toolStyleOf(template.source);
  if (style !== undefined) return callsGrammar(indexed(request, forced), style, single);
  const why = "this model's chat template shows no tool calls, so none can be forced; use 'auto' or 'none'";
  throw new RequestError(`Unsupported value for 'tool_choice': ${why}.`, {
    code: "unsupported_value",
    param: "tool_choice",
  });
}

/** The model chooses whether to call. */
function chosenGrammar(
  request: Pick<ChatRequest, "tools">,
  format: Parts | undefined,
  { tools: offered, single }: ToolUse,
  template: ChatTemplate,
): Parts | undefined {
  const style = toolStyleOf(template.source);
  if (offered.length === 0 || style === undefined) return format;
  const tools = indexed(request, offered);
  if (format === undefined) {
    const isStrict = offered.some((tool) => tool.function.strict === true);
    return isStrict ? freeGrammar(tools, style, single) : undefined;
  }
  const calls = callsGrammar(tools, style, single);
  return { node: { oneOf: [format.node, calls.node] }, rules: { ...format.rules, ...calls.rules } };
}

/** The tools with their places in the request, which errors name. */
function indexed(
  { tools }: Pick<ChatRequest, "tools">,
  wanted: ToolUse["tools"],
): { tool: ToolUse["tools"][number]; index: number }[] {
  return wanted.map((tool) => ({ tool, index: tools?.indexOf(tool) ?? 0 }));
}

/**
 * Opened by the prompt, it must end. Else it may be there where it is switched on: a model that would not
 * reason would be driven into it, for it is the only free text that is allowed.
 */
function reasoning(
  { chat_template_kwargs: variables }: Pick<ChatRequest, "chat_template_kwargs">,
  { source }: ChatTemplate,
  prompt: string,
): GrammarNode[] {
  const space: GrammarNode = { many: { oneOf: [{ text: " " }, { text: "\n" }] }, atMost: 4 };
  const end = prompt.trimEnd();
  if (end.endsWith("<think>")) return [{ rule: "thought0" }, space];
  if (!source.includes("<think>") || end.endsWith("</think>")) return [];
  const isOn = variables?.["enable_thinking"] ?? thinksByDefault(source);
  return isOn === true ? [maybe({ all: [{ text: "<think>" }, { rule: "thought0" }, space] })] : [];
}

/** Templates of models that reason unless told not to ask whether the variable is there, or false. */
function thinksByDefault(source: string): boolean {
  return !source.includes("enable_thinking") || /enable_thinking\s+is\s/.test(source);
}
