import type { ClientRequest } from "node:http";
import { Writable } from "node:stream";
import { answerOf, open } from "./client-api.ts";

const STREAMING = Symbol.for("aws.lambda.runtime.handler.streaming");
const HTTP_ANSWER = "application/vnd.awslambda.http-integration-response";

/** What Lambda's runtime puts into the global scope before it loads a handler. */
export function installRuntime(): void {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse: <T extends object>(handler: T): T =>
        Object.assign(handler, { [STREAMING]: "response" }),
      HttpResponseStream: {
        from(stream: ResponseStream, head: unknown): ResponseStream {
          stream.setContentType(HTTP_ANSWER);
          stream.prelude = Buffer.concat([Buffer.from(JSON.stringify(head)), Buffer.alloc(8)]);
          return stream;
        },
      },
    },
  });
}

export function isStreaming(handler: object): boolean {
  return STREAMING in handler;
}

export interface FunctionError {
  errorMessage: string;
  errorType: string;
}

/** What a streaming handler writes to: a request to the Runtime API that begins with the first bytes. */
export class ResponseStream extends Writable {
  prelude: Buffer | undefined;
  readonly #path: string;
  #contentType = "application/octet-stream";
  #outgoing: ClientRequest | undefined;
  #answer: Promise<unknown> | undefined;
  #ended = Promise.withResolvers<void>();

  constructor(path: string) {
    super();
    this.#path = path;
    this.on("finish", () => this.#ended.resolve()).on("error", (error) => this.#ended.reject(error));
    this.#ended.promise.catch(() => undefined);
  }

  setContentType(type: string): void {
    this.#contentType = type;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#begin().write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#begin().end(() => done());
  }

  /** Resolves when all is written and taken. */
  async finished(): Promise<void> {
    if (!this.writableEnded) this.end();
    await this.#ended.promise;
    await this.#answer;
  }

  /** Tells of an error in the middle, by trailers; false: nothing was written yet. */
  async failed({ errorType, errorMessage }: FunctionError): Promise<boolean> {
    const outgoing = this.#outgoing;
    if (outgoing === undefined) return false;
    outgoing.addTrailers({
      "Lambda-Runtime-Function-Error-Type": errorType,
      "Lambda-Runtime-Function-Error-Body": Buffer.from(JSON.stringify({ errorType, errorMessage })).toString(
        "base64",
      ),
    });
    if (!outgoing.writableEnded) outgoing.end();
    await this.#answer;
    return true;
  }

  #begin(): ClientRequest {
    if (this.#outgoing !== undefined) return this.#outgoing;
    const outgoing = (this.#outgoing = open("POST", this.#path, {
      "content-type": this.#contentType,
      "lambda-runtime-function-response-mode": "streaming",
      "transfer-encoding": "chunked",
      trailer: "Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body",
    }));
    this.#answer = answerOf(outgoing);
    this.#answer.catch((error: Error) => this.destroy(error));
    if (this.prelude !== undefined) outgoing.write(this.prelude);
    return outgoing;
  }
}
