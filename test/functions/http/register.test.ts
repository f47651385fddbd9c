import { describe, expect, it, onTestFinished } from "vitest";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";

describe("a path with a percent escape that is not UTF-8", () => {
  it.each([
    ["GET", "/v1/models/%"],
    ["GET", "/models/%ed%a0%80"],
    ["GET", "/models/%"],
  ])("is the caller's fault: %s %s", async (method, path) => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const answer = await plane.call(method, path);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: "invalid_input" } });
  });

  it("is the job's fault in what a container asks for", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    expect((await job.answer("GET", "/files/%")).status).toBe(400);
    expect((await job.answer("PUT", "/uploads/0/%ff")).status).toBe(400);
  });
});
