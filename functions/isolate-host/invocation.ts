/** What an isolate on Lambda is invoked with. It is JSON as a whole, so that its size is known before it is sent. */
export interface Invocation {
  /** First line of the request's body; absent: what does the module export? */
  head?: unknown;
  /** Second line of the body; absent for bundles of older versions, whose body is one object. */
  rows?: unknown;
  /** Counted from where the module has loaded: nobody pays for a cold start. */
  timeoutMs: number;
  loadTimeoutMs: number;
}

/** Why the host has no answer of the user's code. */
export interface InvocationFailure {
  code: "timeout" | "isolate_out_of_memory" | "isolate_crashed" | "payload_too_large";
  message: string;
}

/** What the host answers; `output`: what user code printed, JSON lines as workerd writes them. */
export type InvocationReply =
  { status: number; json: unknown; output: string } | { failure: InvocationFailure; output: string };

/** Of a synchronous invocation, each way (6 MiB less what the service adds). */
export const MAX_INVOCATION_BYTES = 6 * 1024 * 1024 - 1_024;

/** What the zip of a function holds beside the host. */
export interface HostSettings {
  memoryMiB: number;
  allowHosts: string[];
}

/** Names of the files of a function's zip. */
export const HOST_FILE = "index.mjs";
export const SETTINGS_FILE = "settings.json";
export const USER_CODE_FILE = "user-code.txt";
