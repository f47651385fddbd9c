import { expect, it, onTestFinished } from "vitest";
import { testPlane } from "../../fakes/control-plane.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

const DISTILL = { kind: "distill", algorithm: { kind: "distill" }, rewards: undefined };

it.each<[string, object, string]>([
  ["a secret of a webhook", { webhooks: [{ url: "https://example.com/", secret: "NONE" }] }, "NONE"],
  ["a secret of a tracker", { trackers: [{ kind: "wandb", project: "p", secret: "NONE" }] }, "NONE"],
  ["an eval", { evals: [{ evalId: "eval-none", everySteps: 1 }] }, "eval-none"],
  ["a checkpoint", { startFrom: { checkpoint: "run-none@1", mode: "weights" } }, "run-none@1"],
  ["rows to evaluate on", { evalEvery: 2 }, "evalDataset"],
  ["an endpoint that teaches", { ...DISTILL, teacher: { endpoint: "none" } }, '"none"'],
])("of a run is missed by an estimate as by a launch: %s", async (_, changes, named) => {
  const plane = await testPlane({ onEnd: onTestFinished });
  const spec = { ...(await preparedSpec(plane)), ...changes };
  const [launched, estimated] = await Promise.all(
    ["/runs", "/runs/estimate"].map(async (path) => {
      const response = await plane.call("POST", path, spec);
      return { status: response.status, ...((await response.json()) as { error: { message: string } }) };
    }),
  );
  expect(launched?.error.message).toContain(named);
  expect(estimated).toEqual(launched);
});

it("of a run's code are its secrets, and not the code itself, which an estimate does not need", async () => {
  const plane = await testPlane({ onEnd: onTestFinished });
  const spec = await preparedSpec(plane);
  const rewards = (secrets: string[]) => ({ code: { sha256: "a".repeat(64), secrets } });
  const estimate = (secrets: string[]) =>
    plane.call("POST", "/runs/estimate", { ...spec, rewards: rewards(secrets) });
  expect((await estimate([])).status).toBe(200);
  expect(await (await estimate(["NONE"])).json()).toMatchObject({
    error: { code: "not_found", message: expect.stringContaining("NONE") as string },
  });
});
