import { spawn, type ChildProcess } from "node:child_process";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { functionUrl } from "./function-url.ts";
import { startRuntimeApi, type Outcome } from "./runtime-api.ts";

export interface FunctionParams {
  /** With index.mjs and what lies beside it. */
  folder: string;
  /** The function's variables; it gets no others but those that every function has. */
  environment?: Record<string, string>;
  /** Default 30 s. */
  timeoutMs?: number;
  /** Environments at most; more events wait. Default 4. */
  maxConcurrency?: number;
  /** Port of the function URL; by default any. */
  port?: number;
}

export interface FakeFunction {
  /** Of the function URL, without a slash at its end. */
  readonly url: string;
  /** Processes that were started so far. */
  readonly coldStarts: number;
  /** All that the processes wrote. */
  readonly output: string;
  /** Invokes it past its URL, as EventBridge does. Rejects with what it throws. */
  invoke(event: unknown): Promise<unknown>;
  /** Ends all processes, as Lambda does after a while without events. */
  freeze(): Promise<void>;
  close(): Promise<void>;
}

const CLIENT = fileURLToPath(new URL("./client.ts", import.meta.url));

/** A function of Lambda's, whose environments are processes here: one serves one event at a time. */
export async function startFunction(params: FunctionParams): Promise<FakeFunction> {
  const { folder, environment = {}, timeoutMs = 30_000, maxConcurrency = 4 } = params;
  const api = await startRuntimeApi();
  const children = new Set<ChildProcess>();
  let coldStarts = 0;
  let output = "";

  function startOne(): void {
    coldStarts++;
    const child = spawn(process.execPath, [CLIENT, folder], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        AWS_LAMBDA_RUNTIME_API: api.address,
        AWS_LAMBDA_FUNCTION_NAME: "fake",
        AWS_REGION: "eu-central-1",
        AWS_ACCESS_KEY_ID: "test",
        AWS_SECRET_ACCESS_KEY: "test",
        ...environment,
      },
    });
    child.stdout.on("data", (text: Buffer) => (output += text.toString()));
    child.stderr.on("data", (text: Buffer) => (output += text.toString()));
    child.on("exit", () => children.delete(child));
    children.add(child);
  }

  let busy = 0;
  async function invoke(event: unknown): Promise<Outcome> {
    busy++;
    if (busy > children.size && children.size < maxConcurrency) startOne();
    try {
      const outcome = await api.invoke(event, timeoutMs);
      if (outcome.kind === "stream") {
        busy++;
        outcome.body.on("close", () => busy--);
      }
      return outcome;
    } finally {
      busy--;
    }
  }

  async function freeze(): Promise<void> {
    const ended = [...children].map((child) => new Promise((resolve) => child.once("exit", resolve)));
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(ended);
  }

  const server = functionUrl(invoke);
  await new Promise<void>((resolve) => server.listen(params.port ?? 0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get coldStarts() {
      return coldStarts;
    },
    get output() {
      return output;
    },
    async invoke(event) {
      const outcome = await invoke(event);
      if (outcome.kind === "error") throw new Error(`${outcome.errorType}: ${outcome.errorMessage}`);
      if (outcome.kind === "stream") throw new Error("A function that streams answers over HTTP only.");
      return JSON.parse(outcome.body.toString()) as unknown;
    },
    freeze,
    async close() {
      await freeze();
      await api.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
