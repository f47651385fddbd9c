import { describe, expect, it, onTestFinished } from "vitest";
import type { CreatedKey } from "../../../sdk/schema/key.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";

const CHAT = "/v1/chat/completions";
const HI = [{ role: "user", content: "hi" }];

/** An endpoint that sleeps, and an alias for it. */
async function asleep(): Promise<TestPlane> {
  const plane = await testPlane({
    onEnd: onTestFinished,
    firstState: { state: "waiting", reason: "capacity" },
  });
  const body = { model: { name: "spotter/nano" }, name: "base", scaling: { min: 0, max: 1 } };
  await plane.json("POST", "/endpoints", body);
  await plane.reconciler.settle();
  await plane.json("PUT", "/aliases/haiku", { targets: [{ model: "base" }] });
  plane.control.load.onAccept((name) => void woken.push(name));
  woken.length = 0;
  return plane;
}

const woken: string[] = [];

describe("an endpoint that sleeps", () => {
  it("is not woken by anything but a request that may be answered", async () => {
    const plane = await asleep();
    const { key: other } = await plane.json<CreatedKey>("POST", "/keys", {
      name: "k",
      endpoints: ["elsewhere"],
    });
    const limited = { name: "k", limits: { requestsPerMinute: 1 } };
    const { key: once } = await plane.json<CreatedKey>("POST", "/keys", limited);
    const image = [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:," } }] }];
    const refused: [unknown, number, (string | null)?][] = [
      [{ model: "base", messages: HI }, 401, null],
      [{ model: "base", messages: HI }, 401, "sk-spotter-wrong"],
      [{ model: "base", messages: HI }, 403, other],
      [{ model: "haiku", messages: HI }, 403, other],
      ["{", 400],
      [{ model: "base" }, 400],
      [{ model: "base", messages: [] }, 400],
      [{ model: "base", messages: HI, temperature: 9 }, 400],
      [{ model: "base", messages: HI, stream: true, n: 0 }, 400],
      [{ model: "haiku", messages: image }, 400],
      [{ model: "bass", messages: HI }, 404],
    ];
    for (const [body, status, key] of refused)
      expect((await plane.call("POST", CHAT, body, key)).status, JSON.stringify(body)).toBe(status);
    for (const path of ["/v1/models", "/v1/models/base", "/v1/models/haiku", "/healthz"])
      expect((await plane.call("GET", path)).status).toBe(200);
    expect((await plane.call("POST", "/v1/embeddings", { model: "base", input: "x" })).status).toBe(404);
    expect((await plane.call("POST", "/v1/responses", { model: "base", input: "x" })).status).toBe(404);
    expect(woken).toEqual([]);
    const held = plane.call("POST", CHAT, { model: "base", messages: HI }, once);
    await expect.poll(() => woken).toEqual(["base"]);
    expect((await plane.call("POST", CHAT, { model: "base", messages: HI }, once)).status).toBe(429);
    expect(woken).toEqual(["base"]);
    await plane.json("DELETE", "/endpoints/base");
    expect((await held).status).toBe(503);
  });

  it("is not asked for by a request that was refused: nothing of it is counted", async () => {
    const plane = await asleep();
    const { key, record } = await plane.json<CreatedKey>("POST", "/keys", { name: "k" });
    expect((await plane.call("POST", CHAT, { model: "base", messages: [] }, key)).status).toBe(400);
    expect((await plane.call("POST", CHAT, { model: "bass", messages: HI }, key)).status).toBe(404);
    const { items } = await plane.json<{ items: CreatedKey["record"][] }>("GET", "/keys");
    expect(items).toEqual([record]);
  });
});
