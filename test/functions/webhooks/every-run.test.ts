import { describe, expect, it, onTestFinished } from "vitest";
import type { CreatedKey } from "../../../sdk/schema/key.ts";
import type { WebhookRecord } from "../../../sdk/schema/webhook.ts";
import type { Delivery } from "../../../functions/runs/records.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";

const URL_A = "https://a.example/hook";
const URL_B = "https://b.example/hook";

async function receivingPlane() {
  const sent: { delivery: Delivery; secret: string | undefined }[] = [];
  const plane = await testPlane({
    onEnd: onTestFinished,
    send: async (delivery, secret) => void sent.push({ delivery, secret }),
  });
  return { plane, sent };
}

describe("webhooks of every run", () => {
  it("are told of each run's end, signed with the value of their secret, also after a restart", async () => {
    const { plane: first, sent } = await receivingPlane();
    await first.json("PUT", "/webhooks", { url: URL_B });
    expect((await first.call("PUT", "/secrets/HOOK_KEY", { value: "value-of-the-hook" })).status).toBe(204);
    const record = await first.json<WebhookRecord>("PUT", "/webhooks", { url: URL_A, secret: "HOOK_KEY" });
    expect(record).toMatchObject({ secret: "HOOK_KEY", events: ["run.ended", "run.stalled"] });
    const plane = await first.restart();
    const listed = await plane.json<{ items: WebhookRecord[] }>("GET", "/webhooks");
    expect(listed.items.map(({ url }) => url).sort()).toEqual([URL_A, URL_B]);
    expect(JSON.stringify(listed)).not.toContain("value-of-the-hook");
    const { job } = await runningRun(plane);
    await job.exit("succeeded");
    await plane.webhooks.settle();
    expect(sent.map(({ delivery, secret }) => [delivery.url, delivery.event, secret]).sort()).toEqual([
      [URL_A, "run.ended", "value-of-the-hook"],
      [URL_B, "run.ended", undefined],
    ]);
  });

  it("are told of stalls, if they want to be", async () => {
    const { plane, sent } = await receivingPlane();
    await plane.json("PUT", "/webhooks", { url: URL_A, events: ["run.stalled"] });
    const { job } = await runningRun(plane, { limits: { stallMs: 5_000 } });
    for (let second = 0; second < 7; second++) {
      plane.clock.advance(1_000);
      await job.heartbeat();
      await plane.reconciler.settle();
    }
    await job.exit("succeeded");
    await plane.webhooks.settle();
    expect(sent.map(({ delivery }) => delivery.event)).toEqual(["run.stalled"]);
  });

  it("give way to what the run itself says of the same address", async () => {
    const { plane, sent } = await receivingPlane();
    await plane.json("PUT", "/webhooks", { url: URL_A });
    const { job } = await runningRun(plane, { webhooks: [{ url: URL_A, events: ["run.stalled"] }] });
    await job.exit("succeeded");
    await plane.webhooks.settle();
    expect(sent).toEqual([]);
  });

  it("are replaced by the same URL, removed by their id, and told nothing afterwards", async () => {
    const { plane, sent } = await receivingPlane();
    const { id } = await plane.json<WebhookRecord>("PUT", "/webhooks", { url: URL_A });
    await plane.json("PUT", "/webhooks", { url: URL_A, events: ["run.ended"] });
    const { items } = await plane.json<{ items: WebhookRecord[] }>("GET", "/webhooks");
    expect(items).toMatchObject([{ id, events: ["run.ended"] }]);
    expect((await plane.call("DELETE", `/webhooks/${id}`)).status).toBe(204);
    expect((await plane.call("DELETE", `/webhooks/${id}`)).status).toBe(404);
    const { job } = await runningRun(plane);
    await job.exit("succeeded");
    await plane.webhooks.settle();
    expect(sent).toEqual([]);
  });

  it("need an admin, an address, a secret that is set, and are few", async () => {
    const { plane } = await receivingPlane();
    const { key } = await plane.json<CreatedKey>("POST", "/keys", { name: "w", scope: "write" });
    expect((await plane.call("PUT", "/webhooks", { url: URL_A }, key)).status).toBe(403);
    const refused = async (body: object) => {
      const response = await plane.call("PUT", "/webhooks", body);
      return ((await response.json()) as { error: { code: string; where?: string } }).error;
    };
    expect(await refused({ url: "ftp://a.example" })).toMatchObject({ code: "invalid_input", where: "url" });
    expect(await refused({ url: URL_A, secret: "NONE" })).toMatchObject({
      code: "not_found",
      where: "secret",
    });
    for (let count = 0; count < 20; count++)
      await plane.json("PUT", "/webhooks", { url: `${URL_A}/${count}` });
    expect(await refused({ url: URL_A })).toMatchObject({ code: "conflict" });
    await plane.json("PUT", "/webhooks", { url: `${URL_A}/0`, events: ["run.ended"] });
  });
});
