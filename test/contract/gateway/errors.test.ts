import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { CreatedKey } from "../../../sdk/schema/key.ts";
import { CHAT, HOSTS } from "../../fakes/served.ts";
import { errorOf, frontDoor, hi, type FrontDoor } from "./front-door.ts";

let door: FrontDoor;

beforeAll(async () => {
  door = await frontDoor();
});
afterAll(() => door.close());

const INVALID = "invalid_request_error";

describe.each(HOSTS)("an error through the %s", (host) => {
  it("E1 without a key is 401 without a code", async () => {
    const answer = await door.ask(host, { body: hi(), key: null });
    expect(answer.status).toBe(401);
    expect(errorOf(answer)).toMatchObject({ type: INVALID, code: null, param: null });
  });

  it.each(["Bearer sk-spotter-wrong", "Basic abc", "Bearer", "sk-spotter-wrong", "Bearer a b"])(
    "E2 with the header %j is 401 invalid_api_key",
    async (authorization) => {
      const answer = await door.ask(host, { body: hi(), key: null, headers: { authorization } });
      expect(answer.status).toBe(401);
      expect(errorOf(answer)).toMatchObject({ type: INVALID, code: "invalid_api_key", param: null });
    },
  );

  it("E2 with a key that was revoked is 401", async () => {
    const { key, record } = await door.newKey();
    expect((await door.ask(host, { body: hi(), key })).status).toBe(200);
    await door.plane.json("DELETE", `/keys/${record.id}`);
    expect((await door.ask(host, { body: hi(), key })).status).toBe(401);
  });

  it("E3 with a key for other endpoints is 403, whether the name is an endpoint's or an alias'", async () => {
    await door.plane.json("PUT", "/aliases/nick", { targets: [{ model: "base" }] });
    const { key } = await door.newKey({ endpoints: ["elsewhere"] });
    for (const model of ["base", "nick"]) {
      const answer = await door.ask(host, { body: hi({ model }), key });
      expect(answer.status).toBe(403);
      expect(errorOf(answer)).toMatchObject({ type: INVALID, code: "insufficient_permissions", param: null });
    }
    const { key: named } = await door.newKey({ endpoints: ["nick"] });
    expect((await door.ask(host, { body: hi({ model: "nick" }), key: named })).status).toBe(200);
    expect((await door.ask(host, { body: hi({ model: "base" }), key: named })).status).toBe(403);
  });

  it("E4 for an unknown model is 404, and names no endpoint that the key may not use", async () => {
    const answer = await door.ask(host, { body: hi({ model: "bass" }) });
    expect(answer.status).toBe(404);
    const error = errorOf(answer);
    expect(error).toMatchObject({ type: INVALID, code: "model_not_found", param: "model" });
    expect(error.message).toContain('Did you mean "base"?');
    const { key } = await door.newKey({ endpoints: ["elsewhere"] });
    expect((await door.ask(host, { body: hi({ model: "bass" }), key })).text).not.toContain('"base\\"');
  });

  it.each([
    ["GET", "/v1/nothing"],
    ["POST", "/v1/images/generations"],
    ["POST", "/v1/responses"],
    ["GET", "/v1"],
  ])("E5 for %s %s is 404 unknown_url, and says what there is", async (method, path) => {
    const answer = await door.ask(host, { method, path, ...(method === "POST" && { body: hi() }) });
    expect(answer.status).toBe(404);
    const error = errorOf(answer);
    expect(error).toMatchObject({ type: INVALID, code: "unknown_url", param: null });
    expect(error.message).toContain("/chat/completions");
  });

  it("E5 for embeddings is 404 where the engine has none, and the engine is not asked", async () => {
    const body = JSON.stringify({ model: "base", input: "hi" });
    const answer = await door.ask(host, { path: "/v1/embeddings", body });
    expect(answer.status).toBe(404);
    expect(errorOf(answer)).toMatchObject({ code: "unknown_url", param: null });
    expect(answer.asked).toEqual([]);
  });

  it.each([
    ["/chat/completions", "no path"],
    ["/v1/v1/chat/completions", "/v1/v1"],
    ["/openai/chat/completions", "/openai"],
  ])("E5 for a base URL that is not ours says the right one: %s", async (path, asked) => {
    const answer = await door.ask(host, { path, body: hi() });
    expect(answer.status).toBe(404);
    const { message, code } = errorOf(answer);
    expect(code).toBe("unknown_url");
    expect(message).toContain("The base URL is http://127.0.0.1:7717/v1");
    expect(message).toContain(asked);
  });

  it.each([
    ["GET", CHAT, "POST, OPTIONS"],
    ["DELETE", "/v1/models", "GET, HEAD, OPTIONS"],
    ["PUT", "/v1/models/base", "GET, HEAD, OPTIONS"],
    ["GET", "/tokenize", "POST, OPTIONS"],
    ["GET", "/detokenize", "POST, OPTIONS"],
  ])("E6 for %s %s is 405 with Allow", async (method, path, allow) => {
    const answer = await door.ask(host, { method, path });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe(allow);
    expect(errorOf(answer)).toMatchObject({ type: INVALID, code: "method_not_supported", param: null });
  });

  it.each([
    ["E7", "{", null, null],
    ["E7", "", null, null],
    ["E7", "[1]", null, null],
    ["E8", "{}", "missing_required_parameter", "model"],
    [
      "E9",
      hi({ messages: [{ role: "user", content: "a" }, { role: 5 }] }),
      "invalid_type",
      "messages[1].role",
    ],
    ["E10", hi({ messages: [{ role: "robot", content: "" }] }), "invalid_value", "messages[0].role"],
    ["E11", hi({ temperature: 3 }), "decimal_above_max_value", "temperature"],
    ["E11", hi({ max_tokens: 0 }), "integer_below_min_value", "max_tokens"],
    ["E12", hi({ messages: [] }), "empty_array", "messages"],
    ["E12", hi({ stop: ["a", "b", "c", "d", "e"] }), "array_above_max_length", "stop"],
    ["E15", hi({ stream_options: { include_usage: true } }), null, "stream_options"],
    ["E16", hi({ max_tokens: 1, max_completion_tokens: 2 }), "invalid_parameter_combination", "max_tokens"],
    ["E17", hi({ messages: [{ role: "tool", tool_call_id: "a", content: "" }] }), null, "messages[0].role"],
    ["E19", hi({ tool_choice: "required" }), null, "tool_choice"],
  ])("%s is 400 for %s, and the engine is not asked", async (_row, body, code, param) => {
    const answer = await door.ask(host, { body });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ type: INVALID, code, param });
    expect(answer.asked).toEqual([]);
  });

  it("E13 leaves fields that only engines know as they are, byte for byte", async () => {
    const body = `{"min_p":0.10, "model":"base","seed":12345678901234567890,"messages":[{"role":"user","content":"ü"}]}`;
    const { status, asked } = await door.ask(host, { body });
    expect(status).toBe(200);
    expect(asked[0]?.text).toBe(body);
    const named = body.replace('"base"', '"nick"');
    await door.plane.json("PUT", "/aliases/nick", { targets: [{ model: "base" }] });
    expect((await door.ask(host, { body: named })).asked[0]?.text).toBe(body);
  });

  it("E20 is 413 for a body over the limit, announced or not, packed or not", async () => {
    const large = hi({ messages: [{ role: "user", content: "x".repeat(9 * 1024 * 1024) }] });
    const plain = await door.ask(host, { body: large });
    expect(plain.status).toBe(413);
    expect(errorOf(plain)).toMatchObject({ type: INVALID, code: "request_too_large", param: null });
    const packed = await door.ask(host, { body: gzipSync(large), headers: { "content-encoding": "gzip" } });
    expect(packed.status).toBe(413);
    expect(packed.asked).toEqual([]);
  });

  it("E21 is 429 with the seconds to wait and what is left", async () => {
    const { key } = await door.newKey({ limits: { requestsPerMinute: 1, tokensPerMinute: 1_000 } });
    const first = await door.ask(host, { body: hi(), key });
    expect(first.headers.get("x-ratelimit-limit-requests")).toBe("1");
    expect(first.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(first.headers.get("x-ratelimit-limit-tokens")).toBe("1000");
    const answer = await door.ask(host, { body: hi(), key });
    expect(answer.status).toBe(429);
    expect(errorOf(answer)).toMatchObject({ type: "requests", code: "rate_limit_exceeded", param: null });
    expect(answer.headers.get("retry-after")).toBe("60");
    expect(answer.headers.get("x-ratelimit-reset-requests")).toBe("1m0s");
    expect(answer.headers.get("access-control-expose-headers")).toContain("x-ratelimit-remaining-tokens");
    expect(answer.asked).toEqual([]);
  });

  it("E22 is 429 that is not to be repeated; a raised budget lets the next request in", async () => {
    const { key, record } = await door.newKey({ limits: { tokensPerMonth: 1 } });
    expect((await door.ask(host, { body: hi(), key })).status).toBe(200);
    const answer = await door.ask(host, { body: hi(), key });
    expect(answer.status).toBe(429);
    expect(errorOf(answer)).toMatchObject({
      type: "insufficient_quota",
      code: "insufficient_quota",
      param: null,
    });
    expect(answer.headers.get("x-should-retry")).toBe("false");
    await door.plane.json("PATCH", `/keys/${record.id}`, { limits: { tokensPerMonth: 1_000 } });
    expect((await door.ask(host, { body: hi(), key })).status).toBe(200);
    const { items } = await door.plane.json<{ items: CreatedKey["record"][] }>("GET", "/keys");
    const { usage } = items.find(({ id }) => id === record.id) ?? {};
    expect(usage).toMatchObject({ requests: 2, estimated: 0 });
    expect((usage?.promptTokens ?? 0) * (usage?.completionTokens ?? 0)).toBeGreaterThan(0);
  });

  it("E28 says nothing of what went wrong inside, but the request's id", async () => {
    const { routes } = door.plane.control;
    const broken = vi.spyOn(routes, "latestCheckpoint").mockRejectedValue(new TypeError("secret detail"));
    const answer = await door.ask(host, {
      body: hi({ model: "bass" }),
      headers: { "x-request-id": "mine.1" },
    });
    broken.mockRestore();
    expect(answer.status).toBe(500);
    expect(errorOf(answer)).toMatchObject({ type: "server_error", code: "internal_error", param: null });
    expect(answer.text).not.toContain("secret detail");
    expect(answer.text).toContain("mine.1");
    expect(answer.headers.get("x-request-id")).toBe("mine.1");
  });

  it("S19 is plain JSON for a stream as well", async () => {
    const refused = [
      await door.ask(host, { body: hi({ stream: true, temperature: 3 }) }),
      await door.ask(host, { body: hi({ stream: true }), key: "sk-spotter-wrong" }),
      await door.ask(host, { body: hi({ stream: true, model: "bass" }) }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 401, 404]);
    for (const answer of refused) errorOf(answer);
  });
});
