import { describe, expect, it, onTestFinished } from "vitest";
import { resolveModel } from "../../../functions/gateway/resolve.ts";
import { sharedWorld } from "../../fakes/shared-planes.ts";

describe("a model that another process has just launched", () => {
  it("is found by the very next chat", async () => {
    const world = sharedWorld(onTestFinished);
    const [gateway, other] = [world.open(), world.open()];
    await gateway.control.routes.load();
    await other.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "new" });
    await other.json("PUT", "/aliases/best", { targets: [{ model: "new", weight: 1 }] });
    expect(await resolveModel(gateway.control, "best")).toMatchObject({ endpoint: { name: "new" } });
  });

  it("is found after others asked for it in vain", async () => {
    const world = sharedWorld(onTestFinished);
    const [gateway, other] = [world.open(), world.open()];
    await expect(resolveModel(gateway.control, "new")).rejects.toMatchObject({ code: "model_not_found" });
    await other.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "new" });
    const asked = resolveModel(gateway.control, "new");
    await world.pass(500);
    expect(await asked).toMatchObject({ endpoint: { name: "new" } });
  });

  it("costs a few looks a second where many ask for what is not there", async () => {
    const world = sharedWorld(onTestFinished);
    const gateway = world.open();
    await gateway.control.routes.load();
    await gateway.control.aliases.load();
    const before = gateway.storeCalls();
    const asked = Array.from({ length: 100 }, () => resolveModel(gateway.control, "nowhere").catch(String));
    await world.pass(1_000);
    expect(new Set(await Promise.all(asked)).size).toBe(1);
    // Each is asked once whether it is the name of a run.
    expect(gateway.storeCalls() - before - asked.length).toBeLessThan(20);
  });
});
