import { ECSClient } from "@aws-sdk/client-ecs";
import { operationFrom } from "./wire/schema.ts";
import { problemsOf } from "./wire/validate.ts";

type Send = (this: unknown, command: { input: unknown; schema?: unknown }, ...rest: unknown[]) => unknown;

/**
 * The SDK's clients drop members that their models lack before anything reaches the wire, so a misspelt one would
 * pass unseen. Until the returned function is called, every client in this process refuses them with a
 * `ValidationException` instead. All clients share one base class.
 */
export function refuseUnknownMembers(): () => void {
  const base = Object.getPrototypeOf(ECSClient.prototype) as { send: Send };
  if (users++ === 0) {
    original = base.send;
    base.send = checked(original);
  }
  let done = false;
  return () => {
    if (done) return;
    done = true;
    if (--users === 0 && original !== undefined) base.send = original;
  };
}

let users = 0;
let original: Send | undefined;

const checked = (send: Send): Send =>
  function (command, ...rest) {
    const operation = operationFrom(command.schema);
    const problems = operation === undefined ? [] : problemsOf(operation.input, command.input);
    const unknown = problems.filter((each) => each.includes(" is not a member of "));
    if (unknown.length === 0) return send.call(this, command, ...rest);
    const error = new Error(`${operation?.name ?? ""}: ${unknown.join("; ")}`);
    error.name = "ValidationException";
    return Promise.reject(error);
  };
