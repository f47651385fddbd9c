import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY } from "../../fakes/control-plane.ts";
import { jsonReply } from "../../fakes/engine/engine.ts";
import { vllmAnswer } from "../../fakes/engine/vllm.ts";
import { langchain, openai, STOCK_CLIENTS, type AskParams } from "./clients.ts";
import { frontDoor, hi, type FrontDoor } from "./front-door.ts";

let door: FrontDoor;

beforeAll(async () => {
  door = await frontDoor();
  door.play(() => jsonReply(vllmAnswer("hello")));
});
afterAll(() => door.close());

function asking(more: Partial<AskParams> = {}): AskParams {
  return { baseURL: `${door.base}/v1`, key: ADMIN_KEY, model: "base", ...more };
}

/** The network, with a count of what went over it and something to do after each answer. */
function counted(after: (response: Response) => void = () => undefined): {
  fetch: typeof fetch;
  count: () => number;
} {
  let count = 0;
  return {
    count: () => count,
    async fetch(input, init) {
      count++;
      const response = await fetch(input, init);
      after(response);
      return response;
    },
  };
}

const INVALID = "invalid_request_error";

describe.each(STOCK_CLIENTS)("$name", (client) => {
  const isOpenAi = client.name !== "ai with @ai-sdk/openai-compatible";
  const named = (name: string) => (isOpenAi ? name : "AI_APICallError");

  it("gets its answer, also from a base URL that ends in a slash", async () => {
    expect(await client.ask(asking())).toEqual({ text: "hello" });
    expect(await client.ask(asking({ baseURL: `${door.base}/v1/` }))).toEqual({ text: "hello" });
  });

  it("E2 throws its error of authentication for an unknown key", async () => {
    const { error } = await client.ask(asking({ key: "sk-spotter-wrong" }));
    const name = named("AuthenticationError");
    expect(error).toMatchObject({ name, status: 401, code: "invalid_api_key", type: INVALID, param: null });
  });

  it("E3 throws its error of permission for a key of other endpoints", async () => {
    const { key } = await door.newKey({ endpoints: ["elsewhere"] });
    const { error } = await client.ask(asking({ key }));
    const name = named("PermissionDeniedError");
    expect(error).toMatchObject({ name, status: 403, code: "insufficient_permissions", type: INVALID });
    expect(error?.message).toContain('This key may not use endpoint "base".');
  });

  it("E4 throws that it is not found for an unknown model, with the near name", async () => {
    const { error } = await client.ask(asking({ model: "bass" }));
    const name = named("NotFoundError");
    expect(error).toMatchObject({ name, status: 404, code: "model_not_found", param: "model" });
    expect(error?.message).toContain('Did you mean "base"?');
  });

  it("E5 throws that it is not found for a base URL without /v1, with the right one", async () => {
    const { error } = await client.ask(asking({ baseURL: door.base }));
    expect(error).toMatchObject({ name: named("NotFoundError"), status: 404, code: "unknown_url" });
    expect(error?.message).toContain("The base URL is http://");
  });

  it("E11 throws that the request is bad for a temperature out of range, and does not try again", async () => {
    const network = counted();
    const { error } = await client.ask(asking({ temperature: 3, retries: 2, fetch: network.fetch }));
    const name = named("BadRequestError");
    expect(error).toMatchObject({ name, status: 400, code: "decimal_above_max_value", param: "temperature" });
    expect(network.count()).toBe(1);
  });

  it("E21 throws its error of rate limits", async () => {
    const { key } = await door.newKey({ limits: { requestsPerMinute: 1 } });
    expect(await client.ask(asking({ key }))).toEqual({ text: "hello" });
    const { error } = await client.ask(asking({ key }));
    const name = named("RateLimitError");
    expect(error).toMatchObject({ name, status: 429, code: "rate_limit_exceeded", type: "requests" });
  });

  it("E21 comes back after Retry-After and gets its answer", async () => {
    const { key } = await door.newKey({ limits: { requestsPerMinute: 60 } });
    for (let n = 0; n < 60; n++) expect((await door.ask("app", { body: hi(), key })).status).toBe(200);
    const network = counted(({ status }) => {
      // The minute of the limit passes on the plane's clock.
      if (status === 429) door.plane.clock.advance(1_000);
    });
    const begun = performance.now();
    expect(await client.ask(asking({ key, retries: 1, fetch: network.fetch }))).toEqual({ text: "hello" });
    expect(network.count()).toBe(2);
    expect(performance.now() - begun).toBeGreaterThan(700);
  });
});

describe.each([openai, langchain])("$name", (client) => {
  it("E22 does not try again when the budget is used up", async () => {
    const { key } = await door.newKey({ limits: { tokensPerMonth: 1 } });
    await client.ask(asking({ key }));
    const network = counted();
    const { error } = await client.ask(asking({ key, retries: 2, fetch: network.fetch }));
    expect(error).toMatchObject({ status: 429, code: "insufficient_quota", type: "insufficient_quota" });
    expect(network.count()).toBe(1);
  });
});

describe("openai", () => {
  const client = () => new OpenAI({ baseURL: `${door.base}/v1`, apiKey: ADMIN_KEY, maxRetries: 0 });

  it("E5 throws that it is not found for responses, and says what to use instead", async () => {
    const thrown = await client()
      .responses.create({ model: "base", input: "hi" })
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(OpenAI.NotFoundError);
    expect(thrown).toMatchObject({
      code: "unknown_url",
      message: expect.stringContaining("/v1/chat/completions") as string,
    });
  });

  it("E5 throws that it is not found for embeddings", async () => {
    const asked = client().embeddings.create({ model: "base", input: "hi" });
    await expect(asked).rejects.toMatchObject({ status: 404, code: "unknown_url" });
  });

  it("lists models, and finds one by its name", async () => {
    const { data } = await client().models.list();
    expect(data.map(({ id }) => id)).toContain("base");
    expect(await client().models.retrieve("base")).toMatchObject({ id: "base", object: "model" });
    await expect(client().models.retrieve("none/such@1")).rejects.toMatchObject({
      ...{ status: 404, code: "model_not_found", param: "model" },
    });
  });

  it("S19 throws the same error for a stream as for an answer", async () => {
    const asked = client().chat.completions.create({ model: "base", messages: [], stream: true });
    await expect(asked).rejects.toMatchObject({ status: 400, code: "empty_array", param: "messages" });
  });
});
