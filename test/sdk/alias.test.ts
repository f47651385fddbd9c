import { describe, expect, it } from "vitest";
import { Alias } from "../../sdk/alias.ts";
import { fakeServer } from "./fake-server.ts";

const record = {
  ...{ v: 1, name: "haiku", createdAtMs: 1, changedAtMs: 1 },
  targets: [{ model: "haiku-v1", weight: 1 }],
};

describe("Alias", () => {
  it("sets, gets, lists and removes", async () => {
    const { client, requests } = await fakeServer({
      "PUT /aliases/haiku": () => record,
      "GET /aliases/haiku": () => record,
      "GET /aliases": () => ({ items: [record] }),
      "DELETE /aliases/haiku": (_, response) => void response.writeHead(204).end(),
    });
    expect(await Alias.set("haiku", [{ model: "haiku-v1" }], { client })).toEqual(record);
    expect(requests[0]?.body).toBe('{"targets":[{"model":"haiku-v1"}]}');
    expect(await Alias.get("haiku", { client })).toEqual(record);
    expect(await Alias.list({ client })).toEqual([record]);
    await Alias.remove("haiku", { client });
    expect(requests.at(-1)?.method).toBe("DELETE");
  });
});
