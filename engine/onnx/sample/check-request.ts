import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { GenerateRequest } from "../engine-api.ts";

/** Refuses what would fail, or spoil, the run of all sequences beside it. */
export function checkRequest(request: GenerateRequest, vocabularySize: number, maxPositions: number): void {
  const { promptIds, maxNewTokens, temperature, topP, topK } = request;
  if (promptIds.length === 0) throw invalid("prompt", "is empty: there is nothing to continue");
  const outside = promptIds.find((id) => !Number.isInteger(id) || id < 0 || id >= vocabularySize);
  if (outside !== undefined)
    throw invalid("prompt", `has the token ${outside}, and ids go from 0 to ${vocabularySize - 1}`);
  if (promptIds.length + Math.min(maxNewTokens, 1) > maxPositions) {
    throw new SpotterError(
      "context_length_exceeded",
      `The prompt has ${promptIds.length} tokens, and with its answer it may have ${maxPositions}.`,
      { where: "prompt", hint: "Shorten the prompt." },
    );
  }
  if (!Number.isInteger(maxNewTokens) || maxNewTokens < 0)
    throw invalid("maxNewTokens", `is ${maxNewTokens}`);
  if (!(temperature >= 0) || !Number.isFinite(temperature)) throw invalid("temperature", `is ${temperature}`);
  if (!(topP > 0 && topP <= 1)) throw invalid("topP", `is ${topP}, and must be above 0 and at most 1`);
  if (!Number.isInteger(topK) || topK < 0) throw invalid("topK", `is ${topK}`);
  checkAdjustment(request, vocabularySize);
}

function checkAdjustment(request: GenerateRequest, vocabularySize: number): void {
  const {
    minP = 0,
    minNewTokens = 0,
    presencePenalty = 0,
    frequencyPenalty = 0,
    repetitionPenalty = 1,
  } = request;
  if (!Number.isInteger(minNewTokens) || minNewTokens < 0)
    throw invalid("minNewTokens", `is ${minNewTokens}`);
  if (!(minP >= 0 && minP <= 1)) throw invalid("minP", `is ${minP}, and goes from 0 to 1`);
  if (!(repetitionPenalty > 0) || !Number.isFinite(repetitionPenalty))
    throw invalid("repetitionPenalty", `is ${repetitionPenalty}, and must be above 0`);
  if (!Number.isFinite(presencePenalty)) throw invalid("presencePenalty", `is ${presencePenalty}`);
  if (!Number.isFinite(frequencyPenalty)) throw invalid("frequencyPenalty", `is ${frequencyPenalty}`);
  for (const [id, bias] of request.logitBias ?? []) {
    if (!Number.isInteger(id) || id < 0 || id >= vocabularySize)
      throw invalid("logitBias", `has the token ${id}, and ids go from 0 to ${vocabularySize - 1}`);
    if (!Number.isFinite(bias)) throw invalid("logitBias", `of token ${id} is ${bias}`);
  }
}

function invalid(where: string, what: string): SpotterError {
  return new SpotterError("invalid_input", `${where} ${what}.`, { where, hint: "Correct the request." });
}
