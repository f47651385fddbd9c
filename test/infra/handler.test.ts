import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundle } from "../../infra/bundle.ts";
import { errorBody } from "../../sdk/schema/errors.ts";
import { health } from "../../sdk/schema/status.ts";

interface Answer {
  statusCode: number;
  body: string;
}

const entry = new URL("../../functions/lambda/control.ts", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "spotter-lambda-"));
const code = bundle(entry);
let handler: (event: unknown) => Promise<Answer>;

beforeAll(async () => {
  // What is deployed is what is tested: the bundle, from a folder without node_modules.
  process.env["SPOTTER_VERSION"] = "1.2.3";
  const file = join(folder, "index.mjs");
  writeFileSync(file, code);
  ({ handler } = (await import(pathToFileURL(file).href)) as { handler: typeof handler });
});
afterAll(() => {
  delete process.env["SPOTTER_VERSION"];
  rmSync(folder, { recursive: true });
});

/** An event as a function URL sends it. */
function request(method: string, path: string, body?: string) {
  return {
    version: "2.0",
    rawPath: path,
    rawQueryString: "",
    headers: { host: "control.lambda-url.eu-central-1.on.aws", "content-type": "application/json" },
    requestContext: {
      domainName: "control.lambda-url.eu-central-1.on.aws",
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "203.0.113.1", userAgent: "test" },
    },
    body,
    isBase64Encoded: false,
  };
}

it("answers health", async () => {
  const answer = await handler(request("GET", "/health"));
  expect(answer.statusCode).toBe(200);
  expect(health.parse(JSON.parse(answer.body))).toEqual({ ok: true, name: "spotter", version: "1.2.3" });
});

it.each([
  ["GET", "/"],
  ["POST", "/v1/chat/completions"],
  ["DELETE", "/endpoints/x"],
  ["POST", "/health"],
])("answers %s %s with a coded 501", async (method, path) => {
  const answer = await handler(request(method, path, method === "POST" ? "{}" : undefined));
  expect(answer.statusCode).toBe(501);
  const { error } = errorBody.parse(JSON.parse(answer.body));
  expect(error).toMatchObject({ code: "aws_adapters_missing", kind: "user", where: path });
  expect(error.hint).toContain("spotter up");
});

it("is small, and the same each time it is bundled", () => {
  expect(Buffer.byteLength(code)).toBeLessThan(100_000);
  expect(bundle(entry)).toBe(code);
});
