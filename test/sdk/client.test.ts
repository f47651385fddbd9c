import type { ServerResponse } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod/mini";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { Client } from "../../sdk/client.ts";
import { packageVersion } from "../../sdk/local/home.ts";
import { fakeServer, freePort, send, sendError } from "./fake-server.ts";

const answer = z.object({ ok: z.boolean() });

afterEach(() => {
  vi.unstubAllEnvs();
  Client.setDefault(undefined);
});

describe("Client", () => {
  it("sends the key, the query and the body, and checks the answer", async () => {
    const { client, requests } = await fakeServer({ "POST /things": () => ({ ok: true }) });
    const query = { after: "a b", limit: undefined };
    expect(await client.request(answer, "POST", "/things", { json: { x: 1 }, query })).toEqual({ ok: true });
    expect(requests[0]).toMatchObject({ query: { after: "a b" }, body: '{"x":1}' });
    expect(requests[0]?.headers).toMatchObject({
      authorization: "Bearer test-key",
      "content-type": "application/json",
    });
  });

  it("reads SPOTTER_URL and SPOTTER_API_KEY, with or without /v1", async () => {
    const { url, requests } = await fakeServer({ "GET /things": () => ({ ok: true }) });
    vi.stubEnv("SPOTTER_URL", `${url}/v1/`);
    vi.stubEnv("SPOTTER_API_KEY", "env-key");
    await Client.default().request(answer, "GET", "/things");
    expect(requests[0]?.headers.authorization).toBe("Bearer env-key");
  });

  it("reads the daemon's key anew when the old one is refused, and gives up when the new one is, too", async () => {
    const home = mkdtempSync(join(tmpdir(), "spotter-client-"));
    onTestFinished(() => rmSync(home, { recursive: true }));
    vi.stubEnv("SPOTTER_URL", "");
    vi.stubEnv("SPOTTER_API_KEY", undefined);
    vi.stubEnv("SPOTTER_HOME", home);
    const version = packageVersion();
    const useKey = (adminKey: string) => {
      const file = { url: server.url, pid: process.pid, startedAtMs: 1, version, adminKey };
      writeFileSync(join(home, "daemon.json"), JSON.stringify(file));
    };
    const server = await fakeServer({
      "GET /health": () => ({ ok: true, name: "spotter", version }),
      "GET /things": ({ headers }, response) => {
        if (headers.authorization === "Bearer new") return { ok: true };
        useKey("new");
        sendError(response, 401, "unauthorized", "This key is unknown.");
      },
      "GET /closed": (_, response) => sendError(response, 401, "unauthorized", "This key is unknown."),
    });
    useKey("old");
    const client = new Client({ retryDelayMs: 1 });
    expect(await client.request(answer, "GET", "/things")).toEqual({ ok: true });
    await expect(client.request(answer, "GET", "/closed")).rejects.toMatchObject({ code: "unauthorized" });
    expect(server.requests.filter(({ path }) => path === "/closed")).toHaveLength(2);
  });

  it("can be replaced as the default (80)", async () => {
    const { client } = await fakeServer();
    Client.setDefault(client);
    expect(Client.default()).toBe(client);
  });

  it("turns error bodies into coded errors", async () => {
    const { client } = await fakeServer({
      "GET /own": (_, response) => sendError(response, 409, "conflict", "It serves something else."),
      "GET /openai": (_, response) =>
        send(response, 404, {
          error: { message: "No model x.", type: "x", param: null, code: "model_not_found" },
        }),
      "GET /proxy": (_, response) => response.writeHead(403).end("<html>no</html>") && undefined,
    });
    await expect(client.request(answer, "GET", "/own")).rejects.toMatchObject({
      code: "conflict",
      message: "It serves something else.",
      hint: "Do better.",
    });
    await expect(client.request(answer, "GET", "/openai")).rejects.toMatchObject({ code: "model_not_found" });
    await expect(client.request(answer, "GET", "/proxy")).rejects.toMatchObject({ code: "forbidden" });
  });

  it("names a server that answers with web pages", async () => {
    const page = (status: number) => (_: unknown, response: ServerResponse) =>
      response.writeHead(status, { "content-type": "text/html" }).end("<html>Welcome</html>") && undefined;
    const { client, url, requests } = await fakeServer({ "GET /a": page(200), "GET /b": page(404) });
    for (const path of ["/a", "/b"]) {
      await expect(client.request(answer, "GET", path)).rejects.toMatchObject({
        code: "daemon_unreachable",
        message: `${url} answers with a web page: it is not a Spotter server.`,
        hint: expect.stringContaining("SPOTTER_URL") as string,
      });
    }
    expect(requests).toHaveLength(2);
  });

  it("waits for a server whose proxy says with a page that it is down", async () => {
    let tries = 0;
    const { client } = await fakeServer({
      "GET /things": (_, response) => {
        if (++tries > 1) return { ok: true };
        response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
      },
    });
    expect(await client.request(answer, "GET", "/things")).toEqual({ ok: true });
  });

  it.each(["nonsense", "ftp://127.0.0.1/", "127.0.0.1:7717", "http://"])(
    "refuses the URL %s",
    async (url) => {
      await expect(new Client({ url }).request(answer, "GET", "/")).rejects.toMatchObject({
        code: "invalid_input",
        kind: "user",
        where: "SPOTTER_URL",
      });
    },
  );

  it("refuses a key that no header can carry, without telling it", async () => {
    const { url, requests } = await fakeServer({ "GET /things": () => ({ ok: true }) });
    for (const key of ["sk-\u0000x", "sk-a\nb", "sk-schlüssel"]) {
      const error = await new Client({ url, key })
        .request(answer, "GET", "/things")
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "invalid_input", where: "SPOTTER_API_KEY" });
      expect(JSON.stringify(error)).not.toContain("sk-");
    }
    expect(await new Client({ url, key: "sk-x\n" }).request(answer, "GET", "/things")).toEqual({ ok: true });
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer sk-x"]);
  });

  it("names what is no JSON in a body, and sends nothing", async () => {
    const { client, requests } = await fakeServer();
    await expect(
      client.request(answer, "POST", "/things", { json: { messages: [{ content: 1n }] } }),
    ).rejects.toMatchObject({ code: "invalid_input", where: "messages.0.content" });
    expect(requests).toEqual([]);
  });

  it.each([429, 500, 502, 503, 504])("tries again on %i", async (status) => {
    let tries = 0;
    const { client } = await fakeServer({
      "GET /things": (_, response) => {
        if (++tries < 3) return sendError(response, status, "internal", "Not now.");
        return { ok: true };
      },
    });
    expect(await client.request(answer, "GET", "/things")).toEqual({ ok: true });
    expect(tries).toBe(3);
  });

  it("does not try again where the server says so", async () => {
    let tries = 0;
    const { client } = await fakeServer({
      "GET /things": (_, response) => {
        tries++;
        send(
          response,
          503,
          { error: { code: "capacity", kind: "capacity", message: "Full." } },
          { "x-should-retry": "false" },
        );
      },
    });
    await expect(client.request(answer, "GET", "/things")).rejects.toMatchObject({ code: "capacity" });
    expect(tries).toBe(1);
  });

  it("repeats an unsafe request only if it cannot have arrived", async () => {
    let tries = 0;
    const { client } = await fakeServer({
      "POST /broken": (_, response) => {
        tries++;
        response.socket?.destroy();
      },
      "POST /busy": (_, response) => {
        if (++tries === 1) return sendError(response, 503, "capacity", "Later.");
        return { ok: true };
      },
    });
    await expect(client.request(answer, "POST", "/broken", { retry: "unsent" })).rejects.toMatchObject({
      code: "daemon_unreachable",
    });
    expect(tries).toBe(1);
    tries = 0;
    expect(await client.request(answer, "POST", "/busy", { retry: "unsent" })).toEqual({ ok: true });
  });

  it("sends the key of a launch with every try", async () => {
    const { client, requests } = await fakeServer({
      "POST /launch": (_, response) => (requests.length < 3 ? void response.socket?.destroy() : { ok: true }),
    });
    expect(await client.request(answer, "POST", "/launch", { idempotencyKey: "k" })).toEqual({ ok: true });
    expect(requests.map(({ headers }) => headers["idempotency-key"])).toEqual(["k", "k", "k"]);
  });

  it("names the place nobody answers at", async () => {
    const free = await freePort();
    const client = new Client({ url: `http://127.0.0.1:${free}`, maxAttempts: 2, retryDelayMs: 1 });
    await expect(client.request(answer, "GET", "/things")).rejects.toMatchObject({
      code: "daemon_unreachable",
      message: `Cannot reach http://127.0.0.1:${free}: ECONNREFUSED.`,
    });
  });

  it("gives up after timeoutMs, and at once when the caller aborts", async () => {
    const { client } = await fakeServer({ "GET /things": () => undefined });
    const options = { timeoutMs: 30, maxAttempts: 1 };
    await expect(client.request(answer, "GET", "/things", options)).rejects.toMatchObject({
      code: "timeout",
    });
    const signal = AbortSignal.timeout(10);
    await expect(client.request(answer, "GET", "/things", { signal })).rejects.toMatchObject({
      name: "TimeoutError",
    });
  });

  it("says that the versions differ when an answer does not fit", async () => {
    const { client } = await fakeServer({ "GET /things": () => ({ ok: "yes" }) });
    await expect(client.request(answer, "GET", "/things")).rejects.toMatchObject({
      code: "internal",
      message: expect.stringContaining("ok: is a string, expected boolean") as string,
    });
  });
});
