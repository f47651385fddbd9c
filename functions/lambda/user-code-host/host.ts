import { IsolateFailure } from "../../isolate-host/failure.ts";
import {
  MAX_INVOCATION_BYTES,
  type HostSettings,
  type Invocation,
  type InvocationReply,
} from "../../isolate-host/invocation.ts";
import { UserProcess } from "./user-process.ts";

/** Keys and brackets around the answer. */
const ENVELOPE_BYTES = 64;

export interface HostParams {
  /** The file to start the user's process from. */
  file: string;
  flag: string;
  code: string;
  settings: HostSettings;
}

/** The handler of a function. The process starts with the environment, while Lambda waits for this module. */
export function createHost(params: HostParams): (invocation: Invocation) => Promise<InvocationReply> {
  let running = start(params);
  return async ({ head, rows, timeoutMs, loadTimeoutMs }) => {
    if (!running.isAlive) running = start(params);
    const process = running;
    try {
      const reply = await process.request(bodyOf(head, rows), { timeoutMs, loadTimeoutMs });
      return bounded(reply, await process.takeOutput());
    } catch (error) {
      if (!(error instanceof IsolateFailure)) throw error;
      const { code, message } = error;
      return { failure: { code, message }, output: await process.takeOutput() };
    }
  };
}

function start({ settings, ...params }: HostParams): UserProcess {
  return new UserProcess({ ...params, ...settings });
}

function bodyOf(head: unknown, rows: unknown): string {
  if (head === undefined) return "";
  return rows === undefined ? JSON.stringify(head) : `${JSON.stringify(head)}\n${JSON.stringify(rows)}`;
}

function parse(reply: string): { status: number; json: unknown } {
  try {
    return { status: Number(reply.slice(0, 3)), json: JSON.parse(reply.slice(3)) };
  } catch {
    throw new IsolateFailure("isolate_crashed", `an answer that is no JSON: ${reply.slice(3, 300)}`);
  }
}

/** Lambda would replace an answer that is too long by an error without a reason. */
function bounded(text: string, output: string): InvocationReply {
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(output)) + ENVELOPE_BYTES;
  if (bytes <= MAX_INVOCATION_BYTES) return { ...parse(text), output };
  const message = `an answer of ${bytes} bytes; Lambda hands on ${MAX_INVOCATION_BYTES}`;
  return { failure: { code: "payload_too_large", message }, output };
}
