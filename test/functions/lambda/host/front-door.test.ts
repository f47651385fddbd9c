import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AwsAdapters } from "../../../../functions/aws/aws-deps/open.ts";
import { throughFrontDoor, toldByFrontDoor } from "../../../../functions/lambda/host/front-door.ts";
import type { FunctionUrlEvent } from "../../../../functions/lambda/host/function-url.ts";
import { httpFunction } from "../../../../functions/lambda/host/http-function.ts";
import { memoryStore } from "../../../fakes/memory-store.ts";

const SECRET = "a secret of 32 letters or more, for tests";
const HOST = "d111111abcdef8.cloudfront.net";

function eventOf(headers: Record<string, string>): FunctionUrlEvent {
  const domainName = "x.lambda-url.eu-central-1.on.aws";
  return {
    rawPath: "/nowhere",
    headers: { host: domainName, ...headers },
    requestContext: { domainName, http: { method: "GET", path: "/nowhere" } },
  };
}
const told = { "x-spotter-origin": SECRET, "x-spotter-host": HOST };

describe("the URL of the stack", () => {
  const environment = { SPOTTER_ORIGIN_SECRET: SECRET };

  it("is what the front door says", () => {
    expect(toldByFrontDoor(eventOf(told), environment)).toEqual({
      ...environment,
      SPOTTER_URL: `https://${HOST}`,
    });
  });

  it("is that of the function's variables where they have one", () => {
    const own = { ...environment, SPOTTER_URL: "https://gym.example.com" };
    expect(toldByFrontDoor(eventOf(told), own)).toBe(own);
  });

  it.each([
    ["no secret", { "x-spotter-host": HOST }],
    ["another secret", { "x-spotter-host": HOST, "x-spotter-origin": `${SECRET}!` }],
  ])("is never believed of who shows %s", (_, headers) => {
    expect(() => toldByFrontDoor(eventOf(headers), environment)).toThrow(
      expect.objectContaining({ code: "forbidden", where: "x-spotter-origin" }) as Error,
    );
  });

  it("stays unknown where there is no secret to go by", () => {
    expect(toldByFrontDoor(eventOf(told), {})).toEqual({});
  });
});

it("keeps what the front door adds from the routes", () => {
  const { headers } = throughFrontDoor(eventOf({ ...told, accept: "text/html" }), {
    secret: SECRET,
    publicUrl: `https://${HOST}`,
  });
  expect(headers).toEqual({ host: HOST, accept: "text/html" });
});

describe("a function without a URL in its variables", () => {
  beforeEach(() => {
    vi.stubEnv("SPOTTER_VERSION", "1.2.3");
    vi.stubEnv("SPOTTER_STACK", "test");
    vi.stubEnv("SPOTTER_ORIGIN_SECRET", SECRET);
    vi.stubEnv("SPOTTER_LOG_LEVEL", "error");
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("takes it from the first request that came by the front door, and not before", async () => {
    const adapters: AwsAdapters = { store: { variables: {}, open: () => memoryStore() } };
    const handler = httpFunction({ routes: () => [], adapters });
    const ask = async (headers: Record<string, string>) =>
      handler(eventOf(headers), { getRemainingTimeInMillis: () => 1_000 });
    const bad = await ask({ "x-spotter-host": "evil.example.com", "x-spotter-origin": "guess" });
    expect([bad.statusCode, bad.body]).toEqual([403, expect.stringContaining("Use the URL of the stack")]);
    // The host is checked against the public URL: a route that does not exist is found missing only then.
    expect((await ask(told)).statusCode).toBe(404);
    const late = await ask({ "x-spotter-origin": "guess" });
    expect([late.statusCode, late.body]).toEqual([403, expect.stringContaining(`Use https://${HOST}.`)]);
  });
});
