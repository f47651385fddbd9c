import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { listen } from "../../../functions/local/listen.ts";

function server(answer: object = {}): Server {
  const made = createServer((_request, response) => void response.end(JSON.stringify(answer)));
  onTestFinished(async () => {
    made.closeAllConnections();
    await new Promise((resolve) => made.close(resolve));
  });
  return made;
}

async function taken(answer?: object): Promise<number> {
  const other = server(answer);
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  return (other.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  await new Promise((resolve) => other.close(resolve));
  return port;
}

describe("listen", () => {
  it("takes the port that was asked for, or none", async () => {
    const port = await freePort();
    expect(await listen(server(), { port })).toBe(port);
    const busy = await taken();
    await expect(listen(server(), { port: busy })).rejects.toMatchObject({ code: "port_busy" });
    expect(await listen(server(), { port: 0 })).toBeGreaterThan(0);
  });

  it("prefers the port of the daemon before it, so that its containers find it", async () => {
    const lastPort = await freePort();
    const first = server();
    expect(await listen(first, { lastPort, port: 0 })).toBe(lastPort);
    expect(await listen(server(), { lastPort, port: 0 })).not.toBe(lastPort);
    await new Promise((resolve) => first.close(resolve));
    expect(await listen(server(), { lastPort, port: 0 })).toBe(lastPort);
    expect(await listen(server(), { lastPort, port: 0 })).not.toBe(lastPort);
  });

  it("gives way to the Spotter daemon of another folder, and to nobody else", async () => {
    const spotter = await taken({ ok: true, name: "spotter", version: "1" });
    expect(await listen(server(), { defaultPort: spotter })).not.toBe(spotter);
    const other = await taken({ hello: "world" });
    await expect(listen(server(), { defaultPort: other })).rejects.toMatchObject({
      code: "port_busy",
      where: `127.0.0.1:${other}`,
    });
  });
});
