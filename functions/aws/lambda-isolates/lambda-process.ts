import type { InvokeCommandOutput } from "@aws-sdk/client-lambda";
import { IsolateFailure } from "../../isolate-host/failure.ts";
import { MAX_INVOCATION_BYTES, type InvocationReply } from "../../isolate-host/invocation.ts";
import type { IsolateProcess, StartParams } from "../../isolate-host/isolate.ts";
import { timerMs } from "../../../sdk/schema/timer-ms.ts";
import { awsError, awsErrorName } from "../aws-error.ts";
import { isForNow, patiently } from "./backoff.ts";
import { failureOfFunction } from "./function-error.ts";
import { ensureFunction } from "./functions.ts";
import type { LambdaContext } from "./params.ts";

/** What Lambda may take for itself before and after user code: a cold start, its network, a busy region. */
const SERVICE_MS = 20_000;

interface LambdaProcessParams extends Pick<StartParams, "code" | "bundle" | "onOutput"> {
  name: string;
  context: LambdaContext;
}

/**
 * A function, as one lane sees it. Lambda picks the execution environment of each call by itself, so nothing is
 * started or ended here; after a failure the lane makes another of these, which costs nothing.
 */
export function lambdaProcess(params: LambdaProcessParams): IsolateProcess {
  const { name, context, onOutput } = params;
  let isAlive = true;
  return {
    get isAlive() {
      return isAlive;
    },
    async end() {
      isAlive = false;
    },
    async request(body, timeoutMs, signal) {
      signal?.throwIfAborted();
      try {
        const payload = payloadOf(body, timeoutMs, context.loadTimeoutMs);
        const answer = await invoke(params, payload, timeoutMs, signal);
        const reply = replyOf(answer);
        if (reply.output !== "") onOutput(Buffer.from(`${reply.output}\n`, "utf8"));
        if ("failure" in reply) throw new IsolateFailure(reply.failure.code, reply.failure.message);
        return { status: reply.status, json: reply.json };
      } catch (error) {
        isAlive = false;
        signal?.throwIfAborted();
        if (error instanceof IsolateFailure) throw error;
        throw awsError(error, { what: "Running user code", where: name, needs: "lambda:InvokeFunction" });
      }
    },
  };
}

/** The body's two lines as they are: their size is the payload's, and nothing is escaped. */
function payloadOf(body: string | undefined, timeoutMs: number, loadTimeoutMs: number): Buffer {
  const times = `"timeoutMs":${timeoutMs},"loadTimeoutMs":${loadTimeoutMs}`;
  const end = body?.indexOf("\n") ?? -1;
  const head = body === undefined ? "" : `,"head":${end < 0 ? body : body.slice(0, end)}`;
  const rows = body === undefined || end < 0 ? "" : `,"rows":${body.slice(end + 1)}`;
  const payload = Buffer.from(`{${times}${head}${rows}}`, "utf8");
  if (payload.length <= MAX_INVOCATION_BYTES) return payload;
  const message = `the row is ${payload.length} bytes; Lambda takes ${MAX_INVOCATION_BYTES}`;
  throw new IsolateFailure("payload_too_large", message);
}

async function invoke(
  params: LambdaProcessParams,
  payload: Buffer,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<InvokeCommandOutput> {
  const { name, context } = params;
  const { InvokeCommand } = await import("@aws-sdk/client-lambda");
  const client = await context.client();
  const input = { FunctionName: name, Payload: payload, LogType: "Tail" as const };
  const longestMs = timeoutMs + context.loadTimeoutMs + SERVICE_MS;
  const once = async () => {
    const deadline = AbortSignal.timeout(timerMs(longestMs));
    const abortSignal = signal ? AbortSignal.any([signal, deadline]) : deadline;
    try {
      return await client.send(new InvokeCommand(input), { abortSignal });
    } catch (error) {
      if (!deadline.aborted) throw error;
      throw new IsolateFailure("timeout", `no answer of Lambda within ${longestMs} ms`);
    }
  };
  const { patienceMs, now } = context;
  const isLater = (error: unknown) => !(error instanceof IsolateFailure) && isForNow(error);
  const options = { patienceMs, now, isLater, ...(signal && { signal }) };
  try {
    return await patiently(once, options);
  } catch (error) {
    if (awsErrorName(error) !== "ResourceNotFoundException") throw error;
    // Swept away as unused, or by hand: it is made again from what is here.
    await ensureFunction(name, params, context);
    return patiently(once, options);
  }
}

function replyOf({ FunctionError, LogResult, Payload }: InvokeCommandOutput): InvocationReply {
  const text = Buffer.from(Payload ?? []).toString("utf8");
  if (FunctionError !== undefined) throw failureOfFunction(text, LogResult);
  try {
    return withOutput(JSON.parse(text));
  } catch {
    throw new IsolateFailure("isolate_crashed", `the function answered ${text.slice(0, 300) || "nothing"}`);
  }
}

function withOutput(value: unknown): InvocationReply {
  const reply = value as InvocationReply;
  if (typeof reply.output !== "string") throw new TypeError("no output");
  return reply;
}
