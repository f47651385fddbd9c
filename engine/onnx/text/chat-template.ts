import { Template } from "@huggingface/jinja";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { ChatMessage } from "../../../sdk/schema/rollout.ts";

export interface RenderOptions {
  /** OpenAI tool definitions. */
  tools?: readonly unknown[] | null | undefined;
  /** More variables of the template, for example `enable_thinking`. */
  variables?: Record<string, unknown> | null | undefined;
  /** End with the beginning of the assistant's answer. Default: true. */
  addGenerationPrompt?: boolean | undefined;
}

/** `chat_template` of tokenizer_config.json. */
export type ChatTemplateSource = string | { name: string; template: string }[];

/** A model's chat template: messages to the text the model was trained on. */
export class ChatTemplate {
  readonly #default: Template;
  readonly #withTools: Template;
  readonly #globals: Record<string, unknown>;
  /** The template asks whether a message has content, and tells calls by its absence. */
  readonly #asksForNone: boolean;
  /** The text of the template, which tells how the model writes tool calls. */
  readonly source: string;

  /**
   * `globals` are the special tokens templates write by name, such as `bos_token`.
   *
   * @throws SpotterError `model_corrupt` when it does not parse.
   */
  constructor(source: ChatTemplateSource, globals: Record<string, unknown> = {}) {
    const named = typeof source === "string" ? [{ name: "default", template: source }] : source;
    const byName = (name: string): string | undefined => named.find((item) => item.name === name)?.template;
    const plain = byName("default") ?? named[0]?.template ?? "";
    this.source = byName("tool_use") ?? plain;
    this.#default = parse(plain);
    this.#withTools = this.source === plain ? this.#default : parse(this.source);
    this.#globals = globals;
    this.#asksForNone = /(?<!\w)content['"\])]*\s+is\s+(not\s+)?none/.test(this.source);
  }

  /** @throws SpotterError `chat_template_failed` with what the template objects to. */
  render(messages: readonly ChatMessage[], options: RenderOptions = {}): string {
    const tools = options.tools?.length ? options.tools : undefined;
    const template = tools === undefined ? this.#default : this.#withTools;
    try {
      return template.render({
        ...this.#globals,
        ...options.variables,
        messages: messages.map((message) => withParsedArguments(this.#withContent(message))),
        ...(tools === undefined ? {} : { tools }),
        add_generation_prompt: options.addGenerationPrompt ?? true,
      });
    } catch (cause) {
      throw new SpotterError(
        "chat_template_failed",
        `The model's chat template does not take this: ${whyOf(cause)}`,
        {
          where: "messages",
          hint: "Check roles, their order and chat_template_kwargs against the model's chat template.",
          cause,
        },
      );
    }
  }

  /** Most templates join or search the content, which is not there beside tool calls. */
  #withContent(message: ChatMessage): ChatMessage {
    const { content = null } = message;
    return { ...message, content: content === null && !this.#asksForNone ? "" : content };
  }
}

function whyOf(cause: unknown): string {
  // The stack ran out: the arguments of a call, for one, are text until they are rendered.
  if (cause instanceof RangeError) return "it is nested too deeply.";
  return cause instanceof Error ? cause.message : String(cause);
}

function parse(source: string): Template {
  try {
    return new Template(source);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SpotterError("model_corrupt", `The model's chat template does not parse: ${why}`, {
      where: "chat_template",
      hint: "Repair chat_template.jinja or tokenizer_config.json in the model folder.",
      cause,
    });
  }
}

/** OpenAI carries a call's arguments as JSON text; templates are written for the value. */
function withParsedArguments(message: ChatMessage): ChatMessage {
  const { tool_calls: calls } = message as { tool_calls?: unknown };
  if (!Array.isArray(calls)) return message;
  return { ...message, tool_calls: calls.map(withParsedCall) };
}

function withParsedCall(call: unknown): unknown {
  const target = (call as { function?: { arguments?: unknown } } | null)?.function;
  if (typeof target?.arguments !== "string") return call;
  try {
    const parsed: unknown = JSON.parse(target.arguments);
    return { ...(call as object), function: { ...target, arguments: parsed } };
  } catch {
    return call;
  }
}
