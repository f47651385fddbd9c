import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Miniflare, MiniflareOptions } from "miniflare";
import { Client } from "undici";
import { timerMs } from "../../../sdk/schema/timer-ms.ts";
import { IsolateFailure } from "../../isolate-host/failure.ts";
import type { IsolateProcess, StartParams } from "../../isolate-host/isolate.ts";
import { BUNDLE_MODULE, COMPATIBILITY_DATE, MAIN_MODULE } from "../../isolate-host/main-module.ts";
import { networks, outboundModule } from "../../isolate-host/outbound.ts";
import type { MiniflareModule } from "./load-miniflare.ts";

const MAX_REPLY_BYTES = 16 * 1024 * 1024;
const STDERR_TAIL = 8_000;

export interface MiniflareParams extends StartParams {
  miniflare: MiniflareModule;
  startTimeoutMs: number;
  inspector: { port: number; sourceFolder: string } | undefined;
}

/** Starts one miniflare and resolves when it listens. Throws {@link IsolateFailure} if it does not. */
export async function startMiniflare(params: MiniflareParams): Promise<IsolateProcess> {
  const tail = { text: "" };
  let instance: Miniflare | undefined;
  try {
    instance = new params.miniflare.Miniflare(optionsFor(params, tail));
    const url = await within(instance.ready, params.startTimeoutMs);
    return processOf(instance, url);
  } catch (error) {
    await instance?.dispose().catch(() => {});
    if (error instanceof IsolateFailure) throw error;
    // What is wrong with the module stands on standard error only.
    const why = error instanceof Error ? error.message : String(error);
    throw new IsolateFailure("isolate_crashed", `${why}\n${tail.text}`);
  }
}

function optionsFor(
  { miniflare, bundle, code, onOutput, inspector }: MiniflareParams,
  tail: { text: string },
): MiniflareOptions {
  const allowHosts = bundle.allowHosts ?? [];
  // Debuggers find the user's file by the map, which is relative to the bundle's own place.
  const root = inspector?.sourceFolder ?? "/";
  const text = inspector ? Buffer.from(bundle.code).toString("utf8") : code;
  const module = (path: string, contents: string) => ({
    type: "ESModule" as const,
    path: join(root, path),
    contents,
  });
  const common = { compatibilityDate: COMPATIBILITY_DATE };
  return {
    host: "127.0.0.1",
    port: 0,
    cf: false,
    log: new miniflare.NoOpLog(),
    structuredWorkerdLogs: true,
    ...(inspector && { inspectorPort: inspector.port }),
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      stdout.on("data", onOutput);
      stderr.on("data", (chunk: Buffer) => {
        tail.text = (tail.text + chunk.toString("utf8")).slice(-STDERR_TAIL);
        onOutput(chunk);
      });
    },
    workers: [
      {
        ...common,
        name: "main",
        compatibilityFlags: ["nodejs_compat"],
        modulesRoot: root,
        modules: [module("main.mjs", MAIN_MODULE), module(BUNDLE_MODULE, text)],
        outboundService: "out",
      },
      {
        ...common,
        name: "out",
        modulesRoot: root,
        modules: [module("out.mjs", outboundModule(allowHosts))],
        outboundService: {
          network: {
            allow: allowHosts.length > 0 ? networks(allowHosts) : [],
            deny: allowHosts.length > 0 ? [] : ["0.0.0.0/0", "::/0"],
            tlsOptions: { trustBrowserCas: true },
          },
        },
      },
    ],
  };
}

function processOf(instance: Miniflare, url: URL): IsolateProcess {
  const client = new Client(url.origin, {
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_REPLY_BYTES,
  });
  let ending: Promise<void> | undefined;
  const end = () =>
    (ending ??= (async () => {
      await client.destroy();
      await instance.dispose();
    })());
  return {
    get isAlive() {
      return ending === undefined;
    },
    end,
    async request(body, timeoutMs, signal) {
      signal?.throwIfAborted();
      const deadline = AbortSignal.timeout(timerMs(timeoutMs));
      const stop = signal ? AbortSignal.any([deadline, signal]) : deadline;
      try {
        const reply = await client.request({
          path: "/",
          method: body === undefined ? "GET" : "POST",
          signal: stop,
          ...(body === undefined ? {} : { body, headers: { "content-type": "text/plain" } }),
        });
        const text = await reply.body.text();
        return { status: reply.statusCode, json: parse(text) };
      } catch (error) {
        await end();
        signal?.throwIfAborted();
        if (error instanceof IsolateFailure) throw error;
        if (deadline.aborted) throw new IsolateFailure("timeout", `no answer within ${timeoutMs} ms`);
        throw new IsolateFailure("isolate_crashed", error instanceof Error ? error.message : String(error));
      }
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // miniflare answers with a page about the error, workerd in plain text when it gives up on a request.
    const why = "the code called process.exit, or waits for something that can never happen";
    throw new IsolateFailure("isolate_crashed", `${text.slice(0, 300) || "empty answer"} (${why})`);
  }
}

async function within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const failure = new IsolateFailure("timeout", `the isolate did not start within ${timeoutMs} ms`);
    timer = setTimeout(() => reject(failure), timerMs(timeoutMs));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
