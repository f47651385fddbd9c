import type {
  InvocationRequest,
  InvocationResponse,
  ListFunctionsRequest,
  ListFunctionsResponse,
  ListTagsRequest,
  ListTagsResponse,
} from "@aws-sdk/client-lambda";
import { Fault } from "./fault.ts";
import { arn, nameOf, type FakeIds } from "./ids.ts";
import type { Handlers } from "./server.ts";
import type { World } from "./world.ts";

export interface Invocation {
  name: string;
  requestId: string;
  invocationType: "RequestResponse" | "Event";
  qualifier: string | undefined;
}

/** A function by name. What it throws is what its caller is told, as `FunctionError`. */
export type FakeFunction = (event: unknown, invocation: Invocation) => unknown;

const mostBytes = { RequestResponse: 6_291_456, Event: 1_048_576 };
/** An asynchronous invocation that fails is tried twice more. */
const retryDelaysMs = [60_000, 120_000];

export function lambdaHandlers(functions: ReadonlyMap<string, FakeFunction>, world: World): Handlers {
  return {
    Invoke: (input: InvocationRequest) => invoke(functions, world, input),
    ...listHandlers(functions, world),
  };
}

/** Functions by name: those that can be invoked, and those that were only given tags. */
function listHandlers(functions: ReadonlyMap<string, FakeFunction>, { functionTags }: World): Handlers {
  const known = (name: string): void => {
    if (functions.has(name) || functionTags.has(name)) return;
    throw new Fault("ResourceNotFoundException", `Function not found: ${name}`, 404);
  };
  return {
    ListFunctions({ Marker, MaxItems = 50 }: ListFunctionsRequest): ListFunctionsResponse {
      const names = [...new Set([...functions.keys(), ...functionTags.keys()])].sort();
      if (Marker !== undefined && !Marker.startsWith("after-"))
        throw new Fault("InvalidParameterValueException", "The marker is not valid.");
      const rest = names.filter((name) => Marker === undefined || name > Marker.slice("after-".length));
      const items = rest.slice(0, Math.min(MaxItems, 50));
      return {
        Functions: items.map((name) => ({
          FunctionName: name,
          FunctionArn: arn("lambda", `function:${name}`),
        })),
        NextMarker: items.length < rest.length ? `after-${items.at(-1)}` : undefined,
      };
    },
    ListTags({ Resource = "" }: ListTagsRequest): ListTagsResponse {
      const name = Resource.split(":").at(-1) ?? "";
      known(name);
      return { Tags: functionTags.get(name) ?? {} };
    },
    DeleteFunction({ FunctionName = "" }: { FunctionName?: string }) {
      known(FunctionName);
      functionTags.delete(FunctionName);
      return {};
    },
  };
}

async function invoke(
  functions: ReadonlyMap<string, FakeFunction>,
  world: World,
  input: InvocationRequest,
): Promise<InvocationResponse> {
  const { FunctionName = "", InvocationType: invocationType = "RequestResponse", Payload, Qualifier } = input;
  const [name = "", alias] = nameOf(FunctionName.replace(/^arn:.*:function:/, "")).split(":");
  const found = functions.get(name);
  if (found === undefined) {
    throw new Fault("ResourceNotFoundException", `Function not found: ${name}`, 404);
  }
  if (invocationType === "DryRun") return { StatusCode: 204 };
  const bytes = Payload?.byteLength ?? 0;
  if (bytes > mostBytes[invocationType]) {
    throw new Fault(
      "RequestTooLargeException",
      `${bytes} byte payload is too large for ${invocationType}`,
      413,
    );
  }
  const event = parse(Payload);
  const invocation = {
    name,
    requestId: requestIdOf(world.ids),
    invocationType,
    qualifier: Qualifier ?? alias,
  };
  if (invocationType === "Event") {
    world.clock.after(0, () => void later(found, event, invocation, world, [...retryDelaysMs]));
    return { StatusCode: 202, Payload: new Uint8Array() };
  }
  const { payload, failed } = await call(found, event, invocation);
  return {
    StatusCode: 200,
    ExecutedVersion: Qualifier ?? "$LATEST",
    FunctionError: failed ? "Unhandled" : undefined,
    Payload: new Uint8Array(Buffer.from(JSON.stringify(payload ?? null))),
  };
}

/** Calls a function by its arn the way EventBridge does: asynchronously, and again when it fails. */
export function deliver(
  functions: ReadonlyMap<string, FakeFunction>,
  world: World,
  functionArn: string,
  event: unknown,
): void {
  const [name = "", qualifier] = functionArn.replace(/^arn:.*:function:/, "").split(":");
  const found = functions.get(name);
  // A target that is not there is nobody's error: the real bus drops the event.
  if (found === undefined) return;
  const invocation = { name, requestId: requestIdOf(world.ids), invocationType: "Event" as const, qualifier };
  void later(found, event, invocation, world, [...retryDelaysMs]);
}

const requestIdOf = (ids: FakeIds): string => ids.uuid();

function parse(payload: Uint8Array | undefined): unknown {
  if (payload === undefined || payload.byteLength === 0) return {};
  try {
    return JSON.parse(Buffer.from(payload).toString("utf8"));
  } catch {
    throw new Fault("InvalidRequestContentException", "Could not parse request body into json");
  }
}

async function call(
  found: FakeFunction,
  event: unknown,
  invocation: Invocation,
): Promise<{ payload: unknown; failed: boolean }> {
  try {
    return { payload: await found(event, invocation), failed: false };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { payload: { errorType: name, errorMessage: message, trace: [] }, failed: true };
  }
}

async function later(
  found: FakeFunction,
  event: unknown,
  invocation: Invocation,
  world: World,
  delaysMs: number[],
): Promise<void> {
  const { failed } = await call(found, event, invocation);
  const delayMs = delaysMs.shift();
  if (failed && delayMs !== undefined) {
    world.clock.after(delayMs, () => void later(found, event, invocation, world, delaysMs));
  }
}
