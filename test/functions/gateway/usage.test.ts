import { describe, expect, it } from "vitest";
import { countedTokens, estimatedTokens, usageOfAnswer } from "../../../functions/gateway/usage.ts";
import { vllmAnswer } from "../../fakes/engine/vllm.ts";

describe("the tokens of an answer", () => {
  it("are read from its usage alone", () => {
    expect(usageOfAnswer(Buffer.from(vllmAnswer("hi")))).toEqual({ input: 7, output: 3, cached: 4 });
    expect(usageOfAnswer(Buffer.from('{"usage": {"prompt_tokens": 5}, "id": "}"}'))).toEqual({
      input: 5,
      output: 0,
    });
  });

  it("are not what a model wrote", () => {
    const said = JSON.stringify({ choices: [{ text: '"usage":{"prompt_tokens":1}' }] });
    expect(usageOfAnswer(Buffer.from(said))).toBeUndefined();
  });

  it.each(["", "{}", '{"usage":null}', '{"usage":{"prompt_tokens":"7"}}', '{"usage":{'])(
    "are unknown where nothing was told: %j",
    (text) => expect(usageOfAnswer(Buffer.from(text))).toBeUndefined(),
  );

  it("are guessed by the length of the request and the events of the answer then", () => {
    expect(estimatedTokens(401, 12)).toEqual({ input: 101, output: 12 });
    expect(countedTokens(undefined)).toBeUndefined();
  });
});
