import type { ChatRequest } from "../../../sdk/schema/chat.ts";
import { RequestError } from "../request-error.ts";
import { MOST_BYTES, SchemaGrammar } from "./schema-grammar.ts";
import type { Parts } from "./tool-grammar.ts";

const MOST_CHOICES = 10_000;

/**
 * What `response_format` asks for, or vLLM's `guided_json` and `guided_choice`; undefined for any text.
 *
 * @throws RequestError with the part of a schema that is not known, or for vLLM's other constraints.
 */
export function formatGrammar(
  request: Pick<ChatRequest, "response_format"> & Record<string, unknown>,
): Parts | undefined {
  for (const param of ["guided_regex", "guided_grammar", "structured_outputs"]) {
    if ((request[param] ?? null) === null) continue;
    const why = "this engine keeps answers to 'response_format', 'guided_json' and 'guided_choice' only";
    throw new RequestError(`Unsupported value for '${param}': ${why}.`, { code: "unsupported_value", param });
  }
  const { response_format: format, guided_json: schema, guided_choice: choices } = request;
  if ((choices ?? null) !== null) return choiceGrammar(choices);
  if ((schema ?? null) !== null)
    return schemaGrammar(typeof schema === "string" ? parsed(schema) : schema, "guided_json");
  if (format?.type === "json_object") return { node: { rule: "object" }, rules: {} };
  if (format?.type !== "json_schema") return undefined;
  const param = "response_format.json_schema";
  if (!format.json_schema) {
    throw new RequestError(`Missing required parameter: '${param}'.`, {
      code: "missing_required_parameter",
      param,
    });
  }
  return schemaGrammar(format.json_schema.schema ?? { type: "object" }, `${param}.schema`);
}

function schemaGrammar(schema: unknown, path: string): Parts {
  const grammar = new SchemaGrammar(schema, path, "format/");
  return { node: grammar.node(), rules: grammar.rules };
}

function choiceGrammar(choices: unknown): Parts {
  if (
    !Array.isArray(choices) ||
    choices.length === 0 ||
    choices.some((text) => typeof text !== "string" || text === "")
  ) {
    const message = "Invalid 'guided_choice': expected a list of texts.";
    throw new RequestError(message, { code: "invalid_type", param: "guided_choice" });
  }
  const bytes = choices.reduce<number>((sum, text) => sum + Buffer.byteLength(String(text)), 0);
  if (bytes > MOST_BYTES || choices.length > MOST_CHOICES) {
    const most = `${MOST_CHOICES} texts and ${MOST_BYTES} bytes together`;
    throw new RequestError(`Unsupported value for 'guided_choice': more than ${most}.`, {
      code: "unsupported_value",
      param: "guided_choice",
    });
  }
  return { node: { oneOf: choices.map((text) => ({ text: String(text) })) }, rules: {} };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestError("Invalid 'guided_json': expected a JSON schema.", {
      code: "invalid_type",
      param: "guided_json",
    });
  }
}
