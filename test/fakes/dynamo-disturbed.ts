import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

/** A request as it went out. */
export interface SentCommand {
  name: string;
  input: Record<string, unknown>;
}

/** Writes down every command that a client sends. */
export function recordCommands(client: DynamoDBClient, sent: SentCommand[]): void {
  client.middlewareStack.add(
    (next, context) => (args) => {
      sent.push({ name: String(context.commandName), input: args.input as Record<string, unknown> });
      return next(args);
    },
    { step: "initialize", name: "recordCommands" },
  );
}

export type Disturbance = "throttled" | "unanswered";

/** What to do with an attempt of a request; both are counted from 1. */
export type Choose = (request: number, attempt: number) => Disturbance | undefined;

/**
 * Spoils single attempts of requests. "throttled": refused before anything happened. "unanswered": done, but
 * the connection breaks before the answer, so that the client sends it again.
 */
export function disturb(client: DynamoDBClient, choose: Choose): void {
  const attempts = new WeakMap<object, { request: number; attempt: number }>();
  let requests = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const at = attempts.get(context) ?? { request: ++requests, attempt: 0 };
      attempts.set(context, at);
      const disturbance = choose(at.request, ++at.attempt);
      if (disturbance === "throttled") throw throttled();
      const answer = await next(args);
      if (disturbance === "unanswered")
        throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
      return answer;
    },
    // Inside of the retries: each attempt comes by here.
    { step: "deserialize", name: "disturb", priority: "low" },
  );
}

export function throttled(name = "ProvisionedThroughputExceededException"): Error {
  return Object.assign(new Error("Too many requests."), { name, $metadata: { httpStatusCode: 400 } });
}
