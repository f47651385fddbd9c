import { RequestError } from "./request-error.ts";

/** Deeper values are no request's; they would run what reads them out of stack. */
const DEEPEST = 500;

/** Whether lists and objects are nested in a value more than 500 deep. */
export function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true;
    level = level.flatMap((each) =>
      typeof each === "object" && each !== null ? (Object.values(each) as unknown[]) : [],
    );
  }
  return false;
}

/**
 * What a chat template writes out.
 *
 * @throws RequestError with the part of a request that is nested more than 500 deep.
 */
export function refuseDeep(request: {
  messages?: unknown;
  tools?: readonly { function: { parameters?: unknown } }[] | null | undefined;
  chat_template_kwargs?: unknown;
}): void {
  const tools = (request.tools ?? []).map((tool, index) => ({
    param: `tools[${index}].function.parameters`,
    value: tool.function.parameters,
  }));
  const { messages, chat_template_kwargs: variables } = request;
  const parts = [
    ...tools,
    { param: "tools", value: request.tools },
    { param: "chat_template_kwargs", value: variables },
    { param: "messages", value: messages },
  ];
  const deep = parts.find(({ value }) => isTooDeep(value));
  if (deep === undefined) return;
  const message = `Invalid '${deep.param}': nested too deeply.`;
  throw new RequestError(message, { code: "invalid_value", param: deep.param });
}
