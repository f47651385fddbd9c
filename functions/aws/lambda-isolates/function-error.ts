import { IsolateFailure } from "../../isolate-host/failure.ts";

const MAX_SHOWN = 500;
const OWN_LINES = /^(INIT_START|START|END|REPORT|XRAY) /;

/**
 * What it means that Lambda itself answers for a function: the host is dead or was ended. `logTail`: the last
 * lines of the log, base64, which often say more than the answer.
 */
export function failureOfFunction(payload: string, logTail: string | undefined): IsolateFailure {
  const { type, message } = parse(payload);
  const text = `${type} ${message}`;
  if (/Task timed out|Sandbox\.Timedout/.test(text)) {
    return new IsolateFailure("timeout", `Lambda ended the function: ${message}`.slice(0, MAX_SHOWN));
  }
  if (/Runtime\.OutOfMemory|signal: killed/.test(text)) {
    const why = "the function used more than its memory, and Lambda ended it";
    return new IsolateFailure("isolate_out_of_memory", why);
  }
  if (/ResponseSizeTooLarge|response payload size/i.test(text)) {
    return new IsolateFailure("payload_too_large", message.slice(0, MAX_SHOWN));
  }
  const last = lastLine(logTail);
  const why = `the function ended: ${message || type}${last === undefined ? "" : ` (${last})`}`;
  return new IsolateFailure("isolate_crashed", why.slice(0, MAX_SHOWN));
}

function parse(payload: string): { type: string; message: string } {
  try {
    const value = JSON.parse(payload) as { errorType?: unknown; errorMessage?: unknown } | null;
    return { type: textOf(value?.errorType), message: textOf(value?.errorMessage) };
  } catch {
    return { type: "", message: payload.slice(0, MAX_SHOWN) };
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function lastLine(logTail: string | undefined): string | undefined {
  const text = Buffer.from(logTail ?? "", "base64").toString("utf8");
  return text
    .split("\n")
    .filter((line) => line.trim() !== "" && !OWN_LINES.test(line))
    .at(-1);
}
