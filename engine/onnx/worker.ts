/**
 * The worker thread that owns ONNX Runtime. Spoken to through `engine-client.ts`.
 *
 * @module
 */
import { parentPort } from "node:worker_threads";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { GenerateRequest, GenerateResult, TokenChunk } from "./engine-api.ts";
import { EngineHost } from "./engine-host.ts";
import { toWire, type Call, type FromWorker, type Result, type ToWorker } from "./messages.ts";
import type { SequenceListener } from "./sample/sequence.ts";

const port = parentPort;
if (port === null) throw new SpotterError("internal", "engine/onnx/worker is not an entry of its own.");

const aborts = new Map<number, () => void>();
let host: EngineHost | undefined;
let news: FromWorker[] = [];

port.on("message", (messages: ToWorker[]) => {
  for (const message of messages) {
    if ("abort" in message) abort(message.id);
    else take(message.id, message.call);
  }
});

function take(id: number, call: Call): void {
  if (call.method === "generate") {
    generate(id, call.request, call.stream);
    return;
  }
  answer(call).then(
    (result) => tell({ id, result }),
    (error: unknown) => tell({ id, error: toWire(error) }),
  );
}

async function answer(call: Exclude<Call, { method: "generate" }>): Promise<Result> {
  switch (call.method) {
    case "start":
      host = await EngineHost.create(call.setup, flush);
      return undefined;
    case "score":
      return started().score(call.sequences, call.which, call.temperature);
    case "trainStep":
      return started().trainStep(call.batch);
    case "saveModel":
    case "saveTrainerState":
    case "loadTrainerState":
      await started()[call.method](call.dir);
      return undefined;
    case "close":
      await host?.close();
      port?.close();
      return undefined;
  }
}

function generate(id: number, request: GenerateRequest, stream: boolean): void {
  try {
    aborts.set(id, started().generate(request, listener(id, request, stream)));
  } catch (error) {
    tell({ id, error: toWire(error) });
  }
}

/** Collects a request's tokens; those of one decode step leave in one message with everybody's. */
function listener(id: number, { topLogprobs = 0 }: GenerateRequest, stream: boolean): SequenceListener {
  const empty = (): TokenChunk => ({
    ids: [],
    logprobs: [],
    ...(topLogprobs > 0 ? { topLogprobs: [] } : {}),
  });
  const whole = empty();
  return {
    onPrompt(prompt) {
      whole.prompt = prompt;
      if (stream) news.push({ id, chunk: { ...empty(), prompt } });
    },
    onToken(token, logprob, alternatives) {
      whole.ids.push(token);
      whole.logprobs.push(logprob);
      if (alternatives !== undefined) whole.topLogprobs?.push(alternatives);
      if (!stream) return;
      const top = alternatives === undefined ? {} : { topLogprobs: [alternatives] };
      news.push({ id, chunk: { ids: [token], logprobs: [logprob], ...top } });
    },
    onEnd(finishReason) {
      aborts.delete(id);
      const result: GenerateResult = { ...whole, finishReason };
      news.push({ id, result });
      // A request that ends at once does so outside of any step.
      queueMicrotask(flush);
    },
    onError(error) {
      aborts.delete(id);
      tell({ id, error: toWire(error) });
    },
  };
}

function abort(id: number): void {
  aborts.get(id)?.();
  aborts.delete(id);
}

function started(): EngineHost {
  if (host === undefined) throw new SpotterError("internal", "The engine was not started.");
  return host;
}

function tell(message: FromWorker): void {
  news.push(message);
  flush();
}

function flush(): void {
  if (news.length === 0) return;
  port?.postMessage(news);
  news = [];
}
