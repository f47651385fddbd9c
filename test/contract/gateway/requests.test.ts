import { connect } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY } from "../../fakes/control-plane.ts";
import { CHAT, HOSTS } from "../../fakes/served.ts";
import { errorOf, frontDoor, hi, type FrontDoor } from "./front-door.ts";

let door: FrontDoor;

beforeAll(async () => {
  door = await frontDoor();
});
afterAll(() => door.close());

describe.each(HOSTS)("a request through the %s", (host) => {
  it("S20 is answered with events where it streams, whatever it accepts", async () => {
    const headers = { accept: "application/json" };
    const answer = await door.ask(host, { body: hi({ stream: true }), headers });
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(answer.text).toMatch(/data: \[DONE\]\n\n$/);
  });

  it.each([`${CHAT}/`, "//v1/chat/completions", "/v1//chat/completions/", `${CHAT}?timeout=5`])(
    "is taken at %s",
    async (path) => {
      const { status, asked } = await door.ask(host, { path, body: hi() });
      expect(status).toBe(200);
      expect(asked[0]?.path).toBe(CHAT);
    },
  );

  it.each([
    ["none", {}],
    ["a form's", { "content-type": "application/x-www-form-urlencoded" }],
    ["text", { "content-type": "text/plain;charset=UTF-8" }],
    ["JSON's with a charset", { "content-type": "application/json; charset=utf-8" }],
  ])("is read as JSON with the content type: %s", async (_name, headers) => {
    const body = Buffer.from(hi({ messages: [{ role: "user", content: "Grüße 🌧" }] }));
    const { status, asked } = await door.ask(host, { body, headers });
    expect(status).toBe(200);
    expect(asked[0]?.body).toMatchObject({ messages: [{ content: "Grüße 🌧" }] });
    expect(asked[0]?.headers["content-type"]).toBe("application/json");
  });

  it("is unpacked, and what is not what it says is 400", async () => {
    const packed = { gzip: gzipSync(hi()), deflate: deflateSync(hi()), br: brotliCompressSync(hi()) };
    for (const [encoding, body] of Object.entries(packed)) {
      const { status, asked } = await door.ask(host, { body, headers: { "content-encoding": encoding } });
      expect(status, encoding).toBe(200);
      expect(asked[0]?.text).toBe(hi());
      expect(asked[0]?.headers["content-encoding"]).toBeUndefined();
    }
    for (const encoding of ["gzip", "lzw"]) {
      const answer = await door.ask(host, { body: hi(), headers: { "content-encoding": encoding } });
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toMatchObject({ code: null, param: null });
    }
  });

  it("with a part that is not text is refused before a text engine is asked", async () => {
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: "data:," } },
    ];
    const answer = await door.ask(host, { body: hi({ messages: [{ role: "user", content }] }) });
    expect(answer.status).toBe(400);
    const error = errorOf(answer);
    expect(error).toMatchObject({ code: "invalid_value", param: "messages[0].content[1].type" });
    expect(error.message).toContain("image_url");
    expect(answer.asked).toEqual([]);
  });

  it("to tokenize goes on under its own path", async () => {
    const body = JSON.stringify({ model: "base", prompt: "hi" });
    expect((await door.ask(host, { path: "/tokenize", body })).asked[0]).toMatchObject({
      path: "/tokenize",
      text: body,
    });
    expect((await door.ask(host, { path: "/tokenize", body, key: null })).status).toBe(401);
  });

  it("for OPTIONS needs no key and names the headers that browsers may send", async () => {
    for (const path of [CHAT, "/v1/models/x", "/tokenize", "/chat/completions"]) {
      const headers = {
        "access-control-request-headers": "authorization,x-own",
        origin: "https://app.example",
      };
      const answer = await door.ask(host, { method: "OPTIONS", path, key: null, headers });
      expect(answer.status).toBe(204);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("access-control-allow-methods")).toContain("POST");
      const allowed = answer.headers.get("access-control-allow-headers") ?? "";
      for (const name of ["Authorization", "Content-Type", "X-Stainless-Retry-Count", "x-own"])
        expect(allowed).toContain(name);
      expect(Number(answer.headers.get("access-control-max-age"))).toBeGreaterThan(0);
      const exposed = answer.headers.get("access-control-expose-headers") ?? "";
      for (const name of ["x-request-id", "retry-after", "x-ratelimit-reset-tokens"])
        expect(exposed).toContain(name);
    }
  });

  it("for health needs no key", async () => {
    const answer = await door.ask(host, { method: "GET", path: "/healthz", key: null });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ ok: true });
  });
});

describe("a raw connection", () => {
  /** Everything the server sends until it closes. */
  function exchange(request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(door.base).port), "127.0.0.1");
      const chunks: Buffer[] = [];
      socket.on("data", (chunk) => chunks.push(chunk));
      socket.on("error", reject);
      socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
      socket.write(request);
    });
  }

  it("S21 ends after HEAD, without a body", async () => {
    for (const [path, status] of [
      ["/healthz", 200],
      ["/v1/models", 200],
      [CHAT, 405],
    ] as const) {
      const head = `HEAD ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${ADMIN_KEY}\r\n`;
      const answer = await exchange(`${head}connection: close\r\n\r\n`);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer.endsWith("\r\n\r\n")).toBe(true);
    }
  });

  it("E7 is told where the body is cut inside a character, and E20 before a large body has arrived", async () => {
    const head = `POST ${CHAT} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${ADMIN_KEY}\r\nconnection: close\r\n`;
    expect(await exchange(`${head}content-length: 2\r\n\r\n{"`)).toMatch(
      /^HTTP\/1.1 400 [^]*invalid_request_error/,
    );
    expect(await exchange(`${head}content-length: 99999999\r\n\r\n{`)).toMatch(
      /^HTTP\/1.1 413 [^]*request_too_large/,
    );
  });
});
