import { describe, expect, it } from "vitest";
import { say, serveScript } from "./harness.ts";

const chat = { model: "haiku", messages: [{ role: "user", content: "hi" }] };

describe("a replica with an access key", () => {
  it("answers nobody without it, except about its health", async () => {
    const { app, engine } = serveScript(say("ab"), { accessKey: "secret" });
    const status = async (path: string, authorization?: string) => {
      const body = path.endsWith("completions") ? JSON.stringify(chat) : undefined;
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      return (await app.request(path, { method: body === undefined ? "GET" : "POST", headers, body })).status;
    };
    for (const wrong of [undefined, "Bearer", "Bearer secre", "Bearer secrets", "secret"]) {
      expect(await status("/v1/chat/completions", wrong)).toBe(401);
      expect(await status("/v1/models", wrong)).toBe(401);
    }
    expect(engine.requests).toHaveLength(0);
    expect(await status("/health")).toBe(200);
    expect(await status("/v1/models", "Bearer secret")).toBe(200);
    expect(await status("/v1/chat/completions", "Bearer secret")).toBe(200);
  });
});
