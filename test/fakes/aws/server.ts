import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Traffic } from "./clock.ts";
import { faultOf, type CallFailure, type CallFailures } from "./control.ts";
import { Fault } from "./fault.ts";
import type { ServiceModel, WireAnswer, WireRequest } from "./wire/protocol.ts";
import { operationOf, type Operation } from "./wire/schema.ts";
import { problemsOf } from "./wire/validate.ts";

/** Typed with the SDK's own inputs and outputs where they are written. */
export type Handlers = Record<string, (input: never) => object | Promise<object>>;

export interface Service extends ServiceModel {
  handlers: Handlers;
}

export interface Call {
  service: string;
  operation: string;
  input: Record<string, unknown>;
  atMs: number;
  /** The error code that was answered. */
  error?: string;
  /** Broken off, with or without its effect. */
  lost?: boolean;
}

export interface FakeServer {
  endpoint: string;
  close(): Promise<void>;
}

interface Context {
  services: Service[];
  failures: CallFailures;
  calls: Call[];
  now: () => number;
  traffic: Traffic;
}

export async function listen(context: Context): Promise<FakeServer> {
  const server = createServer((request, response) => {
    const { traffic } = context;
    traffic.inFlight += 1;
    response.once("close", () => {
      traffic.inFlight -= 1;
      traffic.served += 1;
    });
    answer(context, request, response).catch((error: unknown) => {
      // A mistake of the fake itself: loud in the test's log, and a 500 the SDK retries in vain.
      process.stderr.write(`fake AWS: ${error instanceof Error ? error.stack : String(error)}\n`);
      response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let requests = 0;

async function answer(context: Context, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const request = await readRequest(incoming);
  const found = route(context.services, request);
  if (found === undefined) {
    response.writeHead(404, { "x-amzn-errortype": "UnknownOperationException" });
    response.end(JSON.stringify({ __type: "UnknownOperationException", message: describe(request) }));
    return;
  }
  const { service, operation } = found;
  const requestId = `request-${String(++requests).padStart(8, "0")}`;
  const call: Call = { service: service.name, operation: operation.name, input: {}, atMs: context.now() };
  context.calls.push(call);
  const failure = context.failures.take(service.name, operation.name);
  const written = await perform(service, operation, request, requestId, call, failure);
  if (written === undefined) {
    call.lost = true;
    incoming.socket.destroy();
    return;
  }
  response.writeHead(written.status, written.headers).end(written.body);
}

/** Undefined: the connection breaks. */
async function perform(
  service: Service,
  operation: Operation,
  request: WireRequest,
  requestId: string,
  call: Call,
  failure: CallFailure | undefined,
): Promise<WireAnswer | undefined> {
  const { protocol } = service;
  try {
    call.input = protocol.read(request, operation);
    if (failure !== undefined && "unreachable" in failure) return undefined;
    const output = await outputOf(service, operation, call.input, failure);
    if (failure !== undefined && "lost" in failure) return undefined;
    return protocol.write(output, operation, requestId);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    call.error = error.code;
    return protocol.fault(error, requestId);
  }
}

async function outputOf(
  service: Service,
  operation: Operation,
  input: Record<string, unknown>,
  failure: CallFailure | undefined,
): Promise<Record<string, unknown>> {
  if (failure !== undefined && "error" in failure) throw faultOf(failure);
  const problems = problemsOf(operation.input, input);
  if (problems.length > 0) throw new Fault(service.invalidCode, problems.join("; "));
  if (failure !== undefined && "failures" in failure) return { tasks: [], failures: failure.failures };
  const handler = service.handlers[operation.name];
  if (handler === undefined) {
    throw new Fault("UnsupportedOperation", `the fake ${service.name} has no ${operation.name}`, 501);
  }
  const output = (await handler(input as never)) as Record<string, unknown>;
  // Models require some members of answers that the services leave out, such as `startedAt` of a job that waits.
  const wrong = problemsOf(operation.output, output).filter((each) => !each.includes(" is required by "));
  if (wrong.length > 0)
    throw new Error(`${operation.name} answers what its model lacks: ${wrong.join("; ")}`);
  return output;
}

function route(
  services: Service[],
  request: WireRequest,
): { service: Service; operation: Operation } | undefined {
  for (const service of services) {
    const name = service.protocol.operationOf(request, service);
    const operation = name === undefined ? undefined : operationOf(service.models, name);
    if (operation !== undefined) return { service, operation };
  }
  return undefined;
}

const describe = ({ method, url, headers }: WireRequest): string =>
  `no service for ${method} ${url.pathname} ${String(headers["x-amz-target"] ?? "")}`;

async function readRequest(incoming: IncomingMessage): Promise<WireRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return {
    method: incoming.method ?? "GET",
    url: new URL(incoming.url ?? "/", "http://127.0.0.1"),
    headers: incoming.headers,
    body: Buffer.concat(chunks),
  };
}
