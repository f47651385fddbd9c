import { describe, expect, it } from "vitest";
import { Key } from "../../sdk/key.ts";
import { fakeServer } from "./fake-server.ts";

const record = { v: 1, id: "k1", name: "web", scope: "chat", createdAtMs: 1 };

describe("Key", () => {
  it("creates, lists and revokes", async () => {
    const { client, requests } = await fakeServer({
      "POST /keys": () => ({ key: "sk-spotter-x", record }),
      "GET /keys": () => ({ items: [record] }),
      "DELETE /keys/k1": () => ({}),
    });
    expect((await Key.create({ name: "web", scope: "chat", client })).key).toBe("sk-spotter-x");
    expect(requests[0]?.body).toBe('{"name":"web","scope":"chat"}');
    expect((await Key.list({ client }))[0]?.id).toBe("k1");
    await Key.revoke("k1", { client });
  });
});
