import type {
  EngineApi,
  GenerateOptions,
  GenerateRequest,
  GenerateResult,
  TokenChunk,
} from "../../../engine/onnx/engine-api.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";

/** What the fake does with a request: emit tokens, wait, fail. */
export type Script = (
  request: GenerateRequest,
  emit: (...ids: number[]) => void,
  signal: AbortSignal,
) => Promise<"stop" | "length">;

/** An engine that plays a script, and remembers what it was asked and what was aborted. */
export class FakeEngine implements EngineApi {
  readonly requests: GenerateRequest[] = [];
  aborted = 0;
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  async generate(request: GenerateRequest, options: GenerateOptions = {}): Promise<GenerateResult> {
    this.requests.push(request);
    const signal = options.signal ?? new AbortController().signal;
    const whole: TokenChunk = { ids: [], logprobs: [], ...(request.topLogprobs ? { topLogprobs: [] } : {}) };
    const emit = (...ids: number[]): void => {
      const chunk: TokenChunk = {
        ids,
        logprobs: ids.map(() => -0.5),
        ...(request.topLogprobs ? { topLogprobs: ids.map((id) => [{ id, logprob: -0.5 }]) } : {}),
      };
      whole.ids.push(...ids);
      whole.logprobs.push(...chunk.logprobs);
      whole.topLogprobs?.push(...(chunk.topLogprobs ?? []));
      options.onTokens?.(chunk);
    };
    const abort = new Promise<never>((_, reject) => {
      const stop = (): void => {
        this.aborted++;
        reject(new SpotterError("user_cancelled", "The request was aborted."));
      };
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    });
    abort.catch(() => undefined);
    const finishReason = await Promise.race([this.#script(request, emit, signal), abort]);
    return { ...whole, finishReason };
  }

  score(): Promise<number[][]> {
    return Promise.reject(new Error("not scripted"));
  }
  trainStep(): Promise<never> {
    return Promise.reject(new Error("not scripted"));
  }
  saveModel(): Promise<void> {
    return Promise.reject(new Error("not scripted"));
  }
  saveTrainerState(): Promise<void> {
    return Promise.reject(new Error("not scripted"));
  }
  loadTrainerState(): Promise<void> {
    return Promise.reject(new Error("not scripted"));
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}
