import { describe, expect, it, onTestFinished } from "vitest";
import { gym, spec } from "../gym.ts";
import { MINUTE_MS } from "./plane.ts";
import { training } from "./started.ts";

const CUDA = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.";

describe("a container that runs out of memory", () => {
  it.each(["serve-base-r1-1", "train-run-1-a1"])("says so: %s", async (jobId) => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec(jobId));
    await aws.clock.advance(MINUTE_MS);
    aws.control.oom(aws.containers.all[0]?.run.arn ?? "");
    await aws.clock.advance(MINUTE_MS);
    expect(await containers.describe(jobId)).toMatchObject({ exitCode: 137, reason: "oom" });
  });

  it("is not started again blindly: its run fails with a hint", async () => {
    const { plane, id } = await training();
    plane.aws.control.oom(plane.aws.containers.all[0]?.run.arn ?? "");
    await plane.until(async () => (await plane.run(id)).state === "failed", 2 * MINUTE_MS);
    expect(await plane.run(id)).toMatchObject({
      attempt: 1,
      failure: { code: "memory_exceeded", hint: expect.stringContaining("smaller batches") as string },
    });
    expect(plane.aws.calls.filter(({ operation }) => operation === "SubmitJob")).toHaveLength(1);
  });

  it("is known by its log where a GPU ran out", async () => {
    const { plane, id } = await training();
    const [container] = plane.aws.containers.all;
    container?.run.log(CUDA);
    container?.end(1);
    await plane.until(async () => (await plane.run(id)).state === "failed", 2 * MINUTE_MS);
    expect((await plane.run(id)).failure).toMatchObject({ code: "memory_exceeded", logTail: [CUDA] });
  });

  it("is tried again when it was only killed, by whomever", async () => {
    const { plane, id } = await training();
    plane.aws.control.exit(plane.aws.containers.all[0]?.run.arn ?? "", 137);
    await plane.until(() => plane.aws.containers.all.length === 2, 3 * MINUTE_MS);
    expect(await plane.run(id)).toMatchObject({ attempt: 2 });
  });
});
