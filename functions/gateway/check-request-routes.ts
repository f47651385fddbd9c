import { badRequest } from "./refused-request.ts";
import {
  boolean,
  checkFields,
  decimal,
  emptyArray,
  integer,
  isObject,
  missing,
  object,
  oneOf,
  tooMany,
  wrongType,
  type Fields,
  type Rule,
} from "./check-request-fields.ts";
import { checkMessages, type OtherPart } from "./check-request-messages.ts";
import { checkResponseFormat, checkTools } from "./check-request-tools.ts";

const MAX_STOPS = 4;

const stop: Rule = (value, path) => {
  if (typeof value === "string") return;
  if (!Array.isArray(value)) throw wrongType(path, "a string or an array of strings", value);
  for (const [index, each] of value.entries())
    if (typeof each !== "string") throw wrongType(`${path}[${index}]`, "a string", each);
  if (value.length > MAX_STOPS) throw tooMany(path, value.length, MAX_STOPS);
};

const bias = decimal(-100, 100);
const logitBias: Rule = (value, path) => {
  if (!isObject(value)) throw wrongType(path, "an object", value);
  for (const token in value) bias(value[token], `${path}.${token}`);
};

const streamOptions: Rule = (value, path) => {
  if (!isObject(value)) throw wrongType(path, "an object", value);
  const { include_usage: usage } = value;
  if (usage !== undefined && usage !== null) boolean(usage, `${path}.include_usage`);
};

const SAMPLING: [string, Rule][] = [
  ["stream", boolean],
  ["stream_options", streamOptions],
  ["max_tokens", integer(1)],
  ["max_completion_tokens", integer(1)],
  ["min_tokens", integer(0)],
  ["temperature", decimal(0, 2)],
  ["top_p", decimal(0, 1)],
  ["top_k", integer(-1)],
  ["min_p", decimal(0, 1)],
  ["presence_penalty", decimal(-2, 2)],
  ["frequency_penalty", decimal(-2, 2)],
  ["repetition_penalty", decimal(0)],
  ["n", integer(1, 128)],
  ["seed", integer(-Infinity)],
  ["stop", stop],
  ["logit_bias", logitBias],
  ["response_format", checkResponseFormat],
];

const CHAT: ReadonlyMap<string, Rule> = new Map([
  ...SAMPLING,
  ["logprobs", boolean],
  ["top_logprobs", integer(0, 20)],
  ["parallel_tool_calls", boolean],
  ["chat_template_kwargs", object],
]);

const COMPLETION: ReadonlyMap<string, Rule> = new Map([
  ...SAMPLING,
  // None, with `echo` and `logprobs`, scores the prompt: how a teacher is asked.
  ["max_tokens", integer(0)],
  ["max_completion_tokens", integer(0)],
  ["logprobs", integer(0, 20)],
  ["echo", boolean],
  ["best_of", integer(1, 128)],
]);

const EMBEDDINGS: ReadonlyMap<string, Rule> = new Map([
  ["encoding_format", oneOf("float", "base64")],
  ["dimensions", integer(1)],
]);

export function checkChat(fields: Fields): OtherPart | undefined {
  const otherPart = checkMessages(fields["messages"]);
  checkFields(CHAT, fields);
  checkSampling(fields);
  if (isGiven(fields["top_logprobs"]) && fields["logprobs"] !== true) {
    const message = "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.";
    throw badRequest(null, "top_logprobs", message);
  }
  checkTools(fields);
  return otherPart;
}

export function checkCompletion(fields: Fields): undefined {
  checkTexts(fields["prompt"], "prompt");
  checkFields(COMPLETION, fields);
  checkSampling(fields);
}

export function checkEmbeddings(fields: Fields): undefined {
  checkTexts(fields["input"], "input");
  checkFields(EMBEDDINGS, fields);
}

/** Either a `prompt` or the `messages` of a chat. */
export function checkTokenize(fields: Fields): OtherPart | undefined {
  if (isGiven(fields["messages"])) return checkMessages(fields["messages"]);
  if (!isGiven(fields["prompt"])) throw missing("prompt");
  if (typeof fields["prompt"] !== "string") throw wrongType("prompt", "a string", fields["prompt"]);
  return undefined;
}

export function checkDetokenize(fields: Fields): undefined {
  const { tokens } = fields;
  if (!isGiven(tokens)) throw missing("tokens");
  if (!Array.isArray(tokens)) throw wrongType("tokens", "an array of token ids", tokens);
  const wrong = tokens.findIndex((id) => !isTokenId(id));
  if (wrong >= 0) throw wrongType(`tokens[${wrong}]`, "a token id", tokens[wrong]);
}

function checkSampling(fields: Fields): void {
  const { max_tokens: old, max_completion_tokens: current } = fields;
  if (isGiven(old) && isGiven(current) && old !== current) {
    const message = "'max_tokens' and 'max_completion_tokens' say different things; send one of them.";
    throw badRequest("invalid_parameter_combination", "max_tokens", message);
  }
  if (isGiven(fields["stream_options"]) && fields["stream"] !== true) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    throw badRequest(null, "stream_options", message);
  }
}

/** A text, several texts, the token ids of one, or of several. */
function checkTexts(value: unknown, path: string): void {
  if (!isGiven(value)) throw missing(path);
  if (typeof value === "string") return;
  if (!Array.isArray(value)) throw wrongType(path, "a string or an array", value);
  if (value.length === 0) throw emptyArray(path);
  if (typeof value[0] === "number") return checkTokenIds(value, path);
  for (const [index, each] of value.entries()) {
    const at = `${path}[${index}]`;
    if (Array.isArray(each)) checkTokenIds(each, at);
    else if (typeof each !== "string") throw wrongType(at, "a string or an array of token ids", each);
  }
}

function checkTokenIds(ids: unknown[], path: string): void {
  if (ids.length === 0) throw emptyArray(path);
  const wrong = ids.findIndex((id) => !isTokenId(id));
  if (wrong >= 0) throw wrongType(`${path}[${wrong}]`, "a token id", ids[wrong]);
}

function isTokenId(id: unknown): boolean {
  return Number.isInteger(id) && Number(id) >= 0;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
