import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { currentOpenApi } from "../../scripts/openapi/current.ts";

interface Document {
  paths: Record<string, Record<string, { security: unknown[]; responses: Record<string, unknown> }>>;
}

describe("openapi.json", () => {
  it("is what the routes and schemas say (else: npm run openapi)", () => {
    expect(readFileSync("openapi.json", "utf8") === currentOpenApi()).toBe(true);
  });

  it("shows which routes need no credentials", () => {
    const { paths } = JSON.parse(currentOpenApi()) as Document;
    const open = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.security.length === 0)
        .map(([method]) => `${method} ${path}`),
    );
    const assets = "get /ui/assets/{hash}/{name}";
    const preflights = ["options /detokenize", "options /tokenize", "options /v1/{rest}"];
    expect(open.sort()).toEqual([
      "get /",
      "get /health",
      "get /healthz",
      assets,
      "get /ui/open",
      ...preflights,
    ]);
  });

  it("shows defaults as optional in requests and as present in answers", () => {
    const { paths } = JSON.parse(currentOpenApi()) as Document;
    const text = JSON.stringify(paths["/runs"]?.["post"]);
    expect(text).toContain('"required":["kind","model","dataset","algorithm","trainer"]');
  });
});
