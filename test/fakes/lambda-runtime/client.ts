/**
 * Plays Lambda's runtime inside a process of its own: `node client.ts FOLDER`. Loads `handler` of the folder's
 * index.mjs and answers invocations of the Runtime API at AWS_LAMBDA_RUNTIME_API, one at a time, until it is
 * ended.
 *
 * @module
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { call, type NextInvocation } from "./client-api.ts";
import { installRuntime, isStreaming, ResponseStream } from "./client-stream.ts";

interface Context {
  awsRequestId: string;
  functionName: string;
  getRemainingTimeInMillis: () => number;
}

type Handler = (event: unknown, ...rest: unknown[]) => Promise<unknown>;

const folder = process.argv[2] ?? "";
installRuntime();
const handler = await load();
for (;;) await answer(await next());

async function load(): Promise<Handler> {
  try {
    const startedMs = performance.now();
    const module = (await import(pathToFileURL(join(folder, "index.mjs")).href)) as { handler?: unknown };
    process.stderr.write(`runtime: imported in ${(performance.now() - startedMs).toFixed(1)} ms\n`);
    if (typeof module.handler !== "function") throw new Error("index.mjs exports no handler.");
    return module.handler as Handler;
  } catch (error) {
    await call("POST", "/runtime/init/error", JSON.stringify(described(error)));
    process.exit(1);
  }
}

async function next(): Promise<NextInvocation> {
  const { headers, body } = await call("GET", "/runtime/invocation/next");
  const deadlineMs = Number(headers["lambda-runtime-deadline-ms"]);
  return {
    id: String(headers["lambda-runtime-aws-request-id"]),
    deadlineMs,
    event: JSON.parse(body) as unknown,
  };
}

async function answer({ id, event, deadlineMs }: NextInvocation): Promise<void> {
  const context: Context = {
    awsRequestId: id,
    functionName: process.env["AWS_LAMBDA_FUNCTION_NAME"] ?? "function",
    getRemainingTimeInMillis: () => deadlineMs - Date.now(),
  };
  const path = `/runtime/invocation/${id}`;
  const fail = (error: unknown) => call("POST", `${path}/error`, JSON.stringify(described(error)));
  if (!isStreaming(handler)) {
    try {
      const result = await handler(event, context);
      await call("POST", `${path}/response`, JSON.stringify(result ?? null));
    } catch (error) {
      await fail(error);
    }
    return;
  }
  const stream = new ResponseStream(`${path}/response`);
  try {
    await handler(event, stream, context);
    await stream.finished();
  } catch (error) {
    if (!(await stream.failed(described(error)))) await fail(error);
  }
}

function described(error: unknown) {
  const known = error instanceof Error ? error : new Error(String(error));
  return { errorMessage: known.message, errorType: known.name, stackTrace: known.stack?.split("\n") ?? [] };
}
