import { describe, expect, it, onTestFinished } from "vitest";
import type { CreatedKey, KeyRecord } from "../../../sdk/schema/key.ts";
import { runningRun } from "../../fakes/job.ts";
import { testPlane } from "../../fakes/control-plane.ts";

describe("keys", () => {
  it("are shown once and stored as a hash", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { key, record } = await plane.json<CreatedKey>("POST", "/keys", { name: "laptop" });
    expect(key).toMatch(/^sk-spotter-[0-9a-f]{48}$/);
    expect(record).toMatchObject({ name: "laptop", scope: "chat" });
    const page = await plane.json<{ items: KeyRecord[] }>("GET", "/keys");
    expect(page.items).toEqual([record]);
    const stored = await plane.control.store.query("keys");
    expect(JSON.stringify(stored)).not.toContain(key);
    expect(JSON.stringify(stored)).not.toContain(key.slice("sk-spotter-".length));
  });

  it("are revoked at once, and again without harm", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { key, record } = await plane.json<CreatedKey>("POST", "/keys", { name: "ci", scope: "write" });
    expect((await plane.call("GET", "/runs", undefined, key)).status).toBe(200);
    const revoked = await plane.json<KeyRecord>("DELETE", `/keys/${record.id}`);
    expect(revoked.revokedAtMs).toBe(plane.clock.now());
    expect((await plane.call("GET", "/runs", undefined, key)).status).toBe(401);
    plane.clock.advance(1_000);
    expect(await plane.json("DELETE", `/keys/${record.id}`)).toEqual(revoked);
    expect((await plane.call("DELETE", "/keys/nope")).status).toBe(404);
  });

  it("that are revoked end the streams they opened, within two seconds", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const { key, record } = await plane.json<CreatedKey>("POST", "/keys", { name: "ci", scope: "write" });
    const stream = await plane.call("GET", `/runs/${id}/events/stream`, undefined, key);
    const whole = stream.text();
    await plane.json("DELETE", `/keys/${record.id}`);
    await job.report({ type: "log", level: "info", message: "after it was revoked" });
    plane.clock.advance(2_000);
    // It ends, although the run goes on.
    expect(await whole).not.toContain("after it was revoked");
    expect((await plane.call("GET", `/runs/${id}/events/stream`, undefined, key)).status).toBe(401);
  });

  it("that share the start of their hash are told apart", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { record } = await plane.json<CreatedKey>("POST", "/keys", { name: "a", scope: "admin" });
    const document = await plane.control.store.get<{ hash: string }>({ partition: "keys", sort: record.id });
    // A stored hash is no key, nor is anything that only begins like it.
    const forged = `sk-spotter-${document?.value.hash ?? ""}`;
    expect((await plane.call("GET", "/keys", undefined, forged)).status).toBe(401);
  });

  it("of an earlier process' admin end with it", async () => {
    const first = await testPlane({ onEnd: onTestFinished });
    const { key } = await first.json<CreatedKey>("POST", "/keys", { name: "stays", scope: "admin" });
    const second = await first.restart();
    expect((await second.call("GET", "/keys", undefined, key)).status).toBe(200);
    const stored = await second.control.store.query("keys");
    expect(stored.items).toHaveLength(1);
  });
});

describe("secrets", () => {
  it("are set and listed by name, and no route answers with a value (72)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const put = await plane.call("PUT", "/secrets/HF_TOKEN", { value: "hf_abcdefgh" });
    expect(put.status).toBe(204);
    const list = await plane.call("GET", "/secrets");
    const text = await list.text();
    expect(JSON.parse(text)).toEqual({ names: ["HF_TOKEN"] });
    expect(text).not.toContain("hf_abcdefgh");
    expect((await plane.call("DELETE", "/secrets/HF_TOKEN")).status).toBe(204);
    expect((await plane.call("DELETE", "/secrets/HF_TOKEN")).status).toBe(404);
    expect((await plane.call("PUT", "/secrets/1bad", { value: "x" })).status).toBe(400);
  });

  it("are hidden in errors, whatever makes them", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await plane.call("PUT", "/secrets/HF_TOKEN", { value: "hf_abcdefgh" });
    const text = await (await plane.call("GET", "/runs/hf_abcdefgh")).text();
    expect(text).toContain("There is no run [redacted].");
    expect(text).not.toContain("hf_abcdefgh");
  });
});
