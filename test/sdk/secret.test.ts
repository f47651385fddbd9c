import { describe, expect, it } from "vitest";
import { Secret } from "../../sdk/secret.ts";
import { fakeServer } from "./fake-server.ts";

describe("Secret", () => {
  it("sets, lists names and removes", async () => {
    const { client, requests } = await fakeServer({
      "PUT /secrets/A_B": (_, response) => void response.writeHead(204).end(),
      "GET /secrets": () => ({ names: ["A_B"] }),
      "DELETE /secrets/A_B": (_, response) => void response.writeHead(204).end(),
    });
    await Secret.set("A_B", "x", { client });
    expect(await Secret.list({ client })).toEqual(["A_B"]);
    await Secret.remove("A_B", { client });
    expect(requests.map(({ method, body }) => [method, body])).toEqual([
      ["PUT", '{"value":"x"}'],
      ["GET", ""],
      ["DELETE", ""],
    ]);
  });
});
