import { describe, expect, it } from "vitest";
import { fakeServer } from "../../fake-server.ts";
import { runCli } from "../run-cli.ts";

const split = {
  ...{ v: 1, name: "haiku", createdAtMs: 1, changedAtMs: 2 },
  targets: [
    { model: "haiku-v1", weight: 90 },
    { model: "haiku-v2", weight: 10 },
  ],
};

describe("spotter endpoint alias", () => {
  it("sets targets by weight and shows the shares", async () => {
    const { url, requests } = await fakeServer({ "PUT /aliases/haiku": () => split });
    const set = await runCli("endpoint alias haiku haiku-v1=90 haiku-v2=10", { url });
    expect(set.out).toBe("haiku → haiku-v1  90%\nhaiku → haiku-v2  10%\n");
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({ targets: split.targets });
    await runCli("endpoint alias haiku run-1@60", { url });
    expect(JSON.parse(requests[1]?.body ?? "")).toEqual({ targets: [{ model: "run-1@60", weight: 1 }] });
  });

  it("shows one, lists all, and removes", async () => {
    const { url, requests } = await fakeServer({
      "GET /aliases": () => ({ items: [split] }),
      "GET /aliases/haiku": () => split,
      "DELETE /aliases/haiku": (_, response) => void response.writeHead(204).end(),
    });
    expect((await runCli("endpoint alias", { url })).out).toMatch(/haiku +haiku-v1 +90% [^]*haiku-v2 +10% /);
    expect((await runCli("endpoint alias haiku", { url })).out).toContain("haiku-v2  10%");
    const { out } = await runCli("endpoint alias haiku --json", { url });
    expect(JSON.parse(out)).toEqual(split);
    expect((await runCli("endpoint alias haiku --remove", { url })).out).toBe("Removed haiku.\n");
    expect(requests.at(-1)?.method).toBe("DELETE");
  });

  it.each(["haiku a=x", "haiku =1", "haiku a=-1", "haiku a=", "haiku a --remove"])(
    "refuses what is no target: %s",
    async (line) => {
      const { url, requests } = await fakeServer({});
      expect((await runCli(`endpoint alias ${line}`, { url })).code).toBe(2);
      expect(requests).toEqual([]);
    },
  );
});
