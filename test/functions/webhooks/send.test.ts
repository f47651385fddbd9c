import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { sendOverHttp } from "../../../functions/webhooks/send.ts";

async function receiver(status: number, headers: Record<string, string> = {}) {
  const received: { request: IncomingMessage; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += String(chunk)));
    request.on("end", () => {
      received.push({ request, body });
      response.writeHead(status, headers).end("thank you");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received, server };
}

const delivery = (url: string) => {
  return { id: "d1", event: "run.ended" as const, url, body: '{"id":"d1"}', tries: 0, nextAtMs: 0 };
};

describe("sending a webhook", () => {
  it("posts the body as it is, with its id and a signature over time and body", async () => {
    const { url, received } = await receiver(202);
    expect(await sendOverHttp(delivery(url), "s3cret", 1_700)).toBeUndefined();
    const { request, body } = received[0] ?? {};
    expect({ method: request?.method, url: request?.url, body }).toEqual({
      method: "POST",
      url: "/hook",
      body: '{"id":"d1"}',
    });
    const expected = createHmac("sha256", "s3cret").update('1700.{"id":"d1"}').digest("hex");
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "spotter-event": "run.ended",
      "spotter-delivery": "d1",
      "spotter-signature": `t=1700,v1=${expected}`,
    });
  });

  it("says what went wrong, and follows nobody elsewhere", async () => {
    const failing = await receiver(503);
    expect(await sendOverHttp(delivery(failing.url), undefined, 1)).toBe("answered 503");
    expect(failing.received[0]?.request.headers).not.toHaveProperty("spotter-signature");
    const elsewhere = await receiver(200);
    const moved = await receiver(307, { location: elsewhere.url });
    expect(await sendOverHttp(delivery(moved.url), undefined, 1)).toBe("answered 307");
    expect(elsewhere.received).toEqual([]);
    failing.server.close();
    expect(await sendOverHttp(delivery("http://127.0.0.1:1/"), undefined, 1)).toMatch(
      /ECONNREFUSED|bad port/,
    );
  });
});
