import { describe, expect, it } from "vitest";
import { scalingOf, type ScalingSettings } from "../../../../sdk/schema/scaling.ts";
import { fakeServer } from "../../fake-server.ts";
import { endpointRecord } from "../../records.ts";
import { runCli } from "../run-cli.ts";

describe("spotter endpoint scale", () => {
  it("sends only what is given, and shows what holds now", async () => {
    let scaling: ScalingSettings = {};
    const { url, requests } = await fakeServer({
      "GET /endpoints/nano": () => endpointRecord({ scaling: scalingOf(scaling) }),
      "PATCH /endpoints/nano": ({ body }) => {
        ({ scaling } = JSON.parse(body) as { scaling: ScalingSettings });
        return endpointRecord({ scaling: scalingOf(scaling), desired: 0 });
      },
    });
    const shown = await runCli("endpoint scale nano", { url });
    expect(shown.out).toContain("idle timeout       never sleeps\n");
    expect(requests.map(({ method }) => method)).toEqual(["GET"]);
    const args = "--min 0 --max 4 --idle-timeout 10m --hold 90s --target 16";
    const changed = await runCli(`endpoint scale nano ${args}`, { url });
    expect(changed).toMatchObject({ code: 0 });
    expect(JSON.parse(requests.at(-1)?.body ?? "")).toEqual({
      scaling: { min: 0, max: 4, idleTimeoutMs: 600_000, holdMs: 90_000, targetConcurrency: 16 },
    });
    for (const line of [
      "max                4\n",
      "idle timeout       10m 00s\n",
      "queue limit        1600\n",
    ])
      expect(changed.out).toContain(line);
  });

  it("takes the same options at the launch", async () => {
    const { url, requests } = await fakeServer({ "POST /endpoints": () => endpointRecord() });
    const args = "--no-wait --min 0 --buffer 1 --scale-down-window 0s --queue-limit 5";
    expect(await runCli(`endpoint launch spotter/nano ${args}`, { url })).toMatchObject({ code: 0 });
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
      model: { name: "spotter/nano" },
      scaling: { min: 0, buffer: 1, scaleDownWindowMs: 0, queueLimit: 5 },
    });
  });

  it("refuses what is no number, no time, or out of bounds", async () => {
    const { url, requests } = await fakeServer({
      "GET /endpoints/nano": () => endpointRecord({ scaling: scalingOf() }),
    });
    expect(await runCli("endpoint scale nano --min many", { url })).toMatchObject({ code: 2 });
    expect(await runCli("endpoint scale nano --hold 5", { url })).toMatchObject({ code: 2 });
    for (const number of ["0x10", "1e3", "1e99", " 5", "9".repeat(20), "1.5"])
      expect(await runCli(["endpoint", "scale", "nano", "--queue-limit", number], { url })).toMatchObject({
        code: 2,
        err: expect.stringContaining("It must be a whole number.") as string,
      });
    expect(await runCli("endpoint scale nano --max 0", { url })).toMatchObject({
      code: 2,
      err: expect.stringContaining("scaling.max") as string,
    });
    expect(requests.every(({ method }) => method === "GET")).toBe(true);
  });

  it("calls an endpoint asleep that has no replica and none to have", async () => {
    const { url } = await fakeServer({
      "GET /endpoints": () => ({ items: [endpointRecord({ desired: 0, replicas: [] })] }),
      "GET /endpoints/nano": () => endpointRecord({ desired: 0, replicas: [] }),
    });
    expect((await runCli("endpoint list", { url })).out).toMatch(/^nano +asleep/m);
    expect((await runCli("endpoint get nano", { url })).out).toMatch(/^state +asleep$/m);
  });
});
