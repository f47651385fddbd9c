import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Environment } from "./lambda-invoke/environment.ts";
import { unzip } from "./lambda-invoke/unzip.ts";

const MAX_REQUEST = 6_291_456;
const MAX_RESPONSE = 6_291_556;
const NAME = /^[a-zA-Z0-9-_]{1,64}$/;
const KNOWN = new Set(
  "FunctionName Description Runtime Handler Role Architectures MemorySize Timeout Code VpcConfig Tags".split(
    " ",
  ),
);

export interface Call {
  operation: string;
  name: string;
  body: string;
}

export interface StoredFunction {
  name: string;
  configuration: Record<string, unknown>;
  files: Map<string, Buffer>;
  tags: Record<string, string>;
  readyAtMs: number;
  environments: { environment: Environment; isBusy: boolean }[];
}

interface Refusal {
  status: number;
  type: string;
  message: string;
}

/** Lambda's create, get, tag, list, delete and invoke; each execution environment is a real process. */
export class FakeLambda {
  readonly calls: Call[] = [];
  readonly functions = new Map<string, StoredFunction>();
  /** How long a new function is pending. */
  pendingMs = 0;
  /** Of the account, over all functions. */
  concurrency = 1_000;
  /** Of an environment, where it has less than its function asks for: to fill a gigabyte takes long. */
  mostMemoryMiB = Infinity;
  /** Environments started so far. */
  coldStarts = 0;
  mostAtOnce = 0;
  /** Lambda would go on to the function's timeout; this machine has only so many cores. */
  abandonedMs = 200;
  endpoint = "";
  readonly #folder = mkdtempSync(join(tmpdir(), "spotter-lambda-"));
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response));
  readonly #refusals = new Map<string, Refusal[]>();
  /** Also of functions that were deleted. */
  readonly #environments = new Set<Environment>();
  #running = 0;

  static async start(): Promise<FakeLambda> {
    const fake = new FakeLambda();
    await new Promise<void>((resolve) => fake.#server.listen(0, "127.0.0.1", resolve));
    fake.endpoint = `http://127.0.0.1:${(fake.#server.address() as AddressInfo).port}`;
    return fake;
  }

  /** The next `count` calls of an operation are refused. */
  refuse(operation: string, count: number, type: string, status: number, message = "Refused."): void {
    const list = this.#refusals.get(operation) ?? [];
    for (let i = 0; i < count; i++) list.push({ status, type, message });
    this.#refusals.set(operation, list);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await Promise.all([...this.#environments].map((environment) => environment.end()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks).toString("utf8");
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://here").pathname);
    const [operation, name] = operationOf(request.method ?? "", path);
    this.calls.push({ operation, name, body });
    const refusal = this.#refusals.get(operation)?.shift() ?? this.#refusalOf(operation, name, body);
    if (refusal) return refuseWith(response, refusal);
    if (operation === "Invoke") return this.#invoke(name, body, request, response);
    const answer = this.#manage(operation, name, body);
    response.writeHead(operation === "CreateFunction" ? 201 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  }

  #refusalOf(operation: string, name: string, body: string): Refusal | undefined {
    if (operation === "ListFunctions") return undefined;
    if (operation === "CreateFunction") return this.#badFunction(JSON.parse(body) as Record<string, unknown>);
    const found = this.functions.get(name);
    if (!found)
      return { status: 404, type: "ResourceNotFoundException", message: `Function not found: ${name}` };
    if (operation !== "Invoke") return undefined;
    if (Date.now() < found.readyAtMs) {
      const message = "The function is currently in the following state: Pending";
      return { status: 409, type: "ResourceConflictException", message };
    }
    if (body.length > MAX_REQUEST || Buffer.byteLength(body) > MAX_REQUEST) {
      return { status: 413, type: "RequestTooLargeException", message: `${body.length} bytes` };
    }
    if (this.#running < this.concurrency) return undefined;
    return { status: 429, type: "TooManyRequestsException", message: "Rate Exceeded." };
  }

  #badFunction(input: Record<string, unknown>): Refusal | undefined {
    const name = String(input["FunctionName"]);
    const unknown = Object.keys(input).filter((key) => !KNOWN.has(key));
    const bad = (message: string) => ({ status: 400, type: "InvalidParameterValueException", message });
    if (unknown.length > 0) return bad(`unknown: ${unknown.join()}`);
    if (!NAME.test(name)) return bad(`name ${name}`);
    if (!/^arn:aws:iam::\d{12}:role\//.test(String(input["Role"]))) return bad("role");
    const timeout = Number(input["Timeout"]);
    if (!Number.isInteger(timeout) || timeout < 1 || timeout > 900) return bad(`timeout ${timeout}`);
    if (!this.functions.has(name)) return undefined;
    return { status: 409, type: "ResourceConflictException", message: `Function already exist: ${name}` };
  }

  #manage(operation: string, name: string, body: string): unknown {
    switch (operation) {
      case "CreateFunction":
        return this.#create(JSON.parse(body) as Record<string, unknown>);
      case "GetFunction":
        return { Configuration: this.#configuration(name), Tags: this.functions.get(name)?.tags };
      case "GetFunctionConfiguration":
        return this.#configuration(name);
      case "ListFunctions":
        return { Functions: [...this.functions.keys()].map((each) => this.#configuration(each)) };
      case "ListTags":
        return { Tags: this.functions.get(name)?.tags };
      case "TagResource":
        Object.assign(this.functions.get(name)?.tags ?? {}, (JSON.parse(body) as { Tags: object }).Tags);
        return {};
      case "DeleteFunction":
        for (const { environment } of this.functions.get(name)?.environments ?? []) void environment.end();
        this.functions.delete(name);
        return {};
      default:
        throw new Error(`The fake has no ${operation}.`);
    }
  }

  #create({ Code: code, Tags: tags, ...configuration }: Record<string, unknown>): unknown {
    const name = String(configuration["FunctionName"]);
    const zip = Buffer.from((code as { ZipFile: string }).ZipFile, "base64");
    this.functions.set(name, {
      name,
      configuration,
      files: unzip(zip),
      tags: tags as Record<string, string>,
      readyAtMs: Date.now() + this.pendingMs,
      environments: [],
    });
    return this.#configuration(name);
  }

  #configuration(name: string): unknown {
    const found = this.functions.get(name);
    const isPending = Date.now() < (found?.readyAtMs ?? 0);
    const state = isPending ? { State: "Pending", StateReasonCode: "Creating" } : { State: "Active" };
    return { ...found?.configuration, ...state, FunctionArn: arnOf(name) };
  }

  async #invoke(
    name: string,
    body: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const found = this.functions.get(name);
    if (!found) return;
    const slot = this.#slotOf(found);
    this.#running += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#running);
    let abandoned: NodeJS.Timeout | undefined;
    response.on("close", () => {
      if (response.writableFinished) return;
      abandoned = setTimeout(() => void slot.environment.end(), this.abandonedMs);
    });
    const answer = await slot.environment.invoke(body);
    clearTimeout(abandoned);
    this.#running -= 1;
    slot.isBusy = false;
    if (!slot.environment.isAlive) void slot.environment.end();
    const isTooLarge = Buffer.byteLength(answer.payload) > MAX_RESPONSE;
    const tooLarge = JSON.stringify({
      errorType: "Function.ResponseSizeTooLarge",
      errorMessage: `Response payload size exceeded maximum allowed payload size (${MAX_RESPONSE} bytes).`,
    });
    const error = isTooLarge ? "Unhandled" : answer.error;
    const wantsLog = request.headers["x-amz-log-type"] === "Tail";
    response.writeHead(200, {
      "content-type": "application/json",
      "x-amz-executed-version": "$LATEST",
      ...(error && { "x-amz-function-error": error }),
      ...(wantsLog && { "x-amz-log-result": Buffer.from(answer.log).toString("base64") }),
    });
    response.end(isTooLarge ? tooLarge : answer.payload);
  }

  /** An idle environment, the last one used first; a new one where all are busy or gone. */
  #slotOf(found: StoredFunction): { environment: Environment; isBusy: boolean } {
    const idle = found.environments.find(({ environment, isBusy }) => environment.isAlive && !isBusy);
    if (idle) return Object.assign(idle, { isBusy: true });
    this.coldStarts += 1;
    const environment = new Environment({
      folder: join(this.#folder, `${found.name}-${this.coldStarts}`),
      files: found.files,
      memoryMiB: Math.min(this.mostMemoryMiB, Number(found.configuration["MemorySize"])),
      timeoutMs: Number(found.configuration["Timeout"]) * 1_000,
    });
    this.#environments.add(environment);
    const slot = { environment, isBusy: true };
    found.environments.push(slot);
    return slot;
  }
}

function arnOf(name: string): string {
  return `arn:aws:lambda:eu-central-1:000000000000:function:${name}`;
}

function operationOf(method: string, path: string): [operation: string, name: string] {
  const [, version, kind, rest = "", part = ""] = path.split("/");
  const name = rest.split(":").at(-1) ?? "";
  if (version === "2017-03-31" && kind === "tags")
    return [method === "GET" ? "ListTags" : "TagResource", name];
  if (version !== "2015-03-31" || kind !== "functions") return ["Unknown", ""];
  if (rest === "") return [method === "GET" ? "ListFunctions" : "CreateFunction", ""];
  if (part === "invocations") return ["Invoke", name];
  if (part === "configuration") return ["GetFunctionConfiguration", name];
  return [method === "DELETE" ? "DeleteFunction" : "GetFunction", name];
}

function refuseWith(response: ServerResponse, { status, type, message }: Refusal): void {
  response.writeHead(status, { "content-type": "application/json", "x-amzn-errortype": type });
  response.end(JSON.stringify({ Type: "User", message }));
}
