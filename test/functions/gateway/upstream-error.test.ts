import { describe, expect, it } from "vitest";
import { eventError, upstreamError } from "../../../functions/gateway/upstream-error.ts";
import { sglangError, sglangErrorEvent } from "../../fakes/engine/sglang.ts";
import { vllmError, vllmErrorEvent, vllmFlatError } from "../../fakes/engine/vllm.ts";

const TOO_LONG =
  "This model's maximum context length is 2048 tokens. However, you requested 3000 tokens. Please reduce the length.";

describe("an engine's error", () => {
  it.each([
    ["vLLM's", vllmError("bad seed", 400)],
    ["vLLM's flat one", vllmFlatError("bad seed", 400)],
    ["SGLang's flat one", sglangError("bad seed", 400)],
    ["FastAPI's", '{"detail":"bad seed"}'],
    ["a text in its place", '{"error":"bad seed"}'],
    ["plain text", "bad seed\n"],
  ])("E29 keeps status and message, %s", (_whose, text) => {
    expect(upstreamError(400, text)).toEqual({
      status: 400,
      body: { error: { message: "bad seed", type: "invalid_request_error", param: null, code: null } },
    });
  });

  it("E29 is left as it is where it has OpenAI's shape already", () => {
    const error = { message: "m", type: "invalid_request_error", param: "tools", code: "invalid_value" };
    expect(upstreamError(400, JSON.stringify({ error })).body).toEqual({ error });
  });

  it("E29 names the fields of FastAPI's findings", () => {
    const detail = [
      { type: "missing", loc: ["body", "messages", 1, "role"], msg: "Field required", input: {} },
      { type: "int_type", loc: ["body", "n"], msg: "Input should be a valid integer" },
    ];
    expect(upstreamError(422, JSON.stringify({ detail }))).toEqual({
      status: 422,
      body: {
        error: {
          message: "messages[1].role: Field required; n: Input should be a valid integer",
          type: "invalid_request_error",
          param: "messages[1].role",
          code: "missing_required_parameter",
        },
      },
    });
  });

  it.each(["", "<html><body>Bad Gateway</body></html>", '{"status":"down"}', "[]", "null"])(
    "E29 says that there was one where its body says nothing: %j",
    (text) => {
      expect(upstreamError(503, text).body.error).toEqual({
        message: "The replica answered 503.",
        type: "server_error",
        param: null,
        code: "upstream_error",
      });
    },
  );

  it("E14 has OpenAI's code for a prompt that is too long", () => {
    for (const text of [
      vllmError(TOO_LONG, 400),
      sglangError("The input (9 tokens) is longer than the model's context length (8 tokens).", 400),
    ])
      expect(upstreamError(400, text).body.error).toMatchObject({
        code: "context_length_exceeded",
        param: "messages",
      });
  });

  it("E4 has OpenAI's code for a model the engine does not know", () => {
    const text = vllmError("The model `x` does not exist.", 404, "NotFoundError");
    expect(upstreamError(404, text).body.error.code).toBe("model_not_found");
  });

  it("E5 has OpenAI's code for a route the engine does not have", () => {
    expect(upstreamError(404, '{"detail":"Not Found"}').body.error.code).toBe("unknown_url");
  });

  it("is not the client's where the replica refuses our key", () => {
    const { status, body } = upstreamError(401, '{"error":"Unauthorized"}');
    expect(status).toBe(502);
    expect(body.error).toMatchObject({ type: "server_error", code: "upstream_error" });
  });

  it("E29 of an event has the status it names, or 502", () => {
    const data = (event: string) => event.slice("data: ".length);
    expect(eventError(data(vllmErrorEvent("bad", 400))).status).toBe(400);
    expect(eventError(data(sglangErrorEvent("late", 503, "SERVICE_UNAVAILABLE"))).status).toBe(503);
    expect(eventError('{"error":{"message":"x"}}')).toMatchObject({
      status: 502,
      body: { error: { message: "x" } },
    });
  });
});
