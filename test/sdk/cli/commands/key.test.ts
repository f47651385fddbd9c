import { describe, expect, it } from "vitest";
import { fakeServer } from "../../fake-server.ts";
import { runCli } from "../run-cli.ts";

const record = {
  ...{ v: 1, id: "k1", name: "web", scope: "chat", createdAtMs: 1 },
  limits: { requestsPerMinute: 60, tokensPerMonth: 5_000_000 },
  usage: {
    ...{ month: "2026-11", requests: 12, promptTokens: 300, completionTokens: 45 },
    ...{ estimated: 0, lastAtMs: 5 },
  },
};

describe("spotter key", () => {
  it("makes keys with limits", async () => {
    const { url, requests } = await fakeServer({ "POST /keys": () => ({ key: "sk-spotter-x", record }) });
    await runCli("key create web --requests-per-minute 60 --tokens-per-month 5000000", { url });
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
      name: "web",
      scope: "chat",
      limits: { requestsPerMinute: 60, tokensPerMonth: 5_000_000 },
    });
    expect((await runCli("key create web --tokens-per-minute 0", { url })).code).toBe(2);
    expect((await runCli("key create web --tokens-per-minute many", { url })).code).toBe(2);
    expect(requests).toHaveLength(1);
  });

  it("changes limits, takes them away, and lets a key use all endpoints again", async () => {
    const { url, requests } = await fakeServer({ "PATCH /keys/k1": () => record });
    const line = "key update k1 --requests-per-minute 120 --tokens-per-month none --endpoint all";
    expect((await runCli(line, { url })).out).toBe("Changed web.\n");
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
      limits: { requestsPerMinute: 120, tokensPerMonth: null },
      endpoints: null,
    });
    await runCli("key update k1 --endpoint haiku base", { url });
    expect(JSON.parse(requests[1]?.body ?? "")).toEqual({ limits: {}, endpoints: ["haiku", "base"] });
  });

  it("lists what each key used this month, and of how much", async () => {
    const unused = { v: 1, id: "k2", name: "ci", scope: "write", createdAtMs: 1 };
    const { url } = await fakeServer({ "GET /keys": () => ({ items: [record, unused] }) });
    const { out } = await runCli("key list", { url });
    expect(out).toMatch(/REQUESTS +TOKENS/);
    expect(out).toMatch(/web .* 12 +345 of 5000000 +valid/);
    expect(out).toMatch(/ci .* 0 +0 +valid/);
  });
});
