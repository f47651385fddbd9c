import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";

const nano = { model: { name: "spotter/nano" } };
const launch = (plane: TestPlane, options: object = {}) =>
  plane.json<Endpoint>("POST", "/endpoints", { ...nano, ...options });
const sleepy = { min: 0, max: 1, idleTimeoutMs: 60_000 };

describe("an endpoint that something needs for a while", () => {
  it("may sleep, is the same for all who need it, and stays awake once somebody launches it", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const first = await launch(plane, { implicit: true });
    expect(first).toMatchObject({ implicit: true, scaling: sleepy, desired: 1 });
    expect(await launch(plane, { implicit: true })).toEqual(first);
    const owned = await launch(plane);
    expect(owned.name).toBe(first.name);
    expect(owned).not.toHaveProperty("implicit");
    expect(owned.scaling).toMatchObject({ min: 1, idleTimeoutMs: 300_000 });
  });

  it("leaves one as it is that somebody launched", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const owned = await launch(plane, { maxLifetimeMs: 3_600_000, scaling: { max: 2 } });
    expect(await launch(plane, { implicit: true })).toEqual(owned);
  });

  it("sleeps also where somebody had stopped it before", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { name } = await launch(plane, { scaling: { min: 1, max: 3 } });
    await plane.call("DELETE", `/endpoints/${name}`);
    await plane.reconciler.settle();
    const again = await launch(plane, { implicit: true });
    expect(again).toMatchObject({ name, implicit: true, scaling: sleepy });
    expect(again.state).not.toBe("stopped");
  });
});
