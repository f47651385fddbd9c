import { describe, expect, it, onTestFinished } from "vitest";
import { GPU, gym, spec, SPOT, STACK } from "./gym.ts";

const JOB = "train-run-1-a1";
const REPLICA = "serve-base-r1-1";

describe("containers on AWS", () => {
  it("run a replica as a task and work as a job", async () => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec(REPLICA));
    await containers.launch(spec(JOB));
    expect(aws.calls.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(["RunTask", "SubmitJob"]),
    );
    expect(await containers.describe(REPLICA)).toMatchObject({ state: "waiting", reason: "capacity" });
    await aws.clock.advance(60_000);
    expect(await containers.describe(REPLICA)).toMatchObject({ state: "running" });
    expect(await containers.describe(JOB)).toMatchObject({ state: "running" });
    expect(await containers.list()).toEqual([
      { jobId: REPLICA, kind: "serve" },
      { jobId: JOB, kind: "train" },
    ]);
  });

  it("give a container its job, and say it nowhere else", async () => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec(REPLICA, { hardware: GPU }));
    await containers.launch(spec(JOB, { hardware: SPOT, maxLifetimeMs: 7_200_000 }));
    await aws.clock.advance(600_000);
    const [task, job] = aws.containers.all;
    for (const [container, jobId] of [
      [task, REPLICA],
      [job, JOB],
    ] as const)
      expect(container?.run).toMatchObject({
        environment: { SPOTTER_JOB_TOKEN: `spotter-job.${jobId}.secret` },
        gpus: 1,
      });
    const inputs = aws.calls.filter(({ operation }) => /RunTask|SubmitJob/.test(operation));
    for (const { input } of inputs) {
      const { overrides: _overrides, containerOverrides: _containerOverrides, ...visible } = input;
      expect(JSON.stringify(visible)).not.toContain("secret");
      expect(JSON.stringify(visible)).toContain(STACK);
    }
    expect(inputs[1]?.input).toMatchObject({
      jobQueue: "work-gpu-spot",
      timeout: { attemptDurationSeconds: 7_200 },
      retryStrategy: { attempts: 1, evaluateOnExit: [{ onReason: "*", action: "EXIT" }] },
    });
  });

  it("start one container for one id, whoever launches it", async () => {
    const { aws, containers, another } = await gym(onTestFinished);
    await Promise.all([containers.launch(spec(JOB)), containers.launch(spec(JOB))]);
    await another().launch(spec(JOB));
    await containers.launch(spec(REPLICA));
    await another().launch(spec(REPLICA));
    const started = aws.calls.filter(({ operation }) => /RunTask|SubmitJob/.test(operation));
    expect(started).toHaveLength(2);
  });

  it("do not start again what has ended", async () => {
    const { aws, containers, another } = await gym(onTestFinished);
    for (const jobId of [JOB, REPLICA]) await containers.launch(spec(jobId));
    await aws.clock.advance(60_000);
    for (const container of aws.containers.all) container.end(0);
    await aws.clock.advance(60_000);
    for (const jobId of [JOB, REPLICA]) {
      await another().launch(spec(jobId));
      expect(await another().describe(jobId)).toMatchObject({ state: "exited", exitCode: 0, reason: "done" });
    }
    expect(aws.containers.all).toHaveLength(2);
    expect(await containers.list()).toEqual([]);
  });

  it("page through lists", async () => {
    const { containers, another } = await gym(onTestFinished);
    const ids = Array.from({ length: 105 }, (_, index) => `train-run-${index}-a1`);
    await Promise.all(ids.map((jobId) => containers.launch(spec(jobId))));
    const listed = (await another().list()).map(({ jobId }) => jobId);
    expect(listed.toSorted()).toEqual(ids.toSorted());
  });

  it("see nothing of another stack in the same cluster", async () => {
    const { containers, apis, aws } = await gym(onTestFinished);
    const ecs = await apis.ecs();
    await ecs.runTask({
      cluster: STACK,
      taskDefinition: "serve-cpu",
      networkConfiguration: { awsvpcConfiguration: { subnets: ["subnet-1"] } },
      capacityProviderStrategy: [{ capacityProvider: "FARGATE" }],
      tags: [
        { key: "spotter:stack", value: "another" },
        { key: "spotter:job", value: REPLICA },
        { key: "spotter:kind", value: "serve" },
      ],
    });
    await aws.clock.advance(30_000);
    expect(await containers.list()).toEqual([]);
    expect(await containers.describe(REPLICA)).toEqual({ state: "unknown" });
  });

  it("ask a container to end, and wait for it", async () => {
    const { aws, containers, another, passUntil } = await gym(onTestFinished);
    for (const jobId of [JOB, REPLICA]) await containers.launch(spec(jobId));
    await aws.clock.advance(60_000);
    for (const jobId of [JOB, REPLICA]) {
      const other = another();
      await passUntil(other.stop(jobId, 1_000));
      expect(await other.describe(jobId)).toMatchObject({ state: "exited", reason: "user" });
    }
    expect(aws.containers.all.map(({ signals }) => signals)).toEqual([["SIGTERM"], ["SIGTERM"]]);
    await containers.stop("train-never-launched-a1", 1_000);
  });

  it.each([
    ["serve-base-r1-1", "RunTask", STACK],
    ["train-run-1-a1", "SubmitJob", "work-cpu"],
  ] as const)("say what the role of %s lacks", async (jobId, call, where) => {
    const { aws, containers } = await gym(onTestFinished);
    aws.control.failNext(call, { error: "AccessDeniedException", message: "not authorized", status: 403 });
    await expect(containers.launch(spec(jobId))).rejects.toMatchObject({
      code: "aws_denied",
      where,
      hint: expect.stringContaining(call) as string,
    });
    expect(aws.containers.all).toEqual([]);
  });

  it("say which definition the stack lacks", async () => {
    const { containers } = await gym(onTestFinished, { taskDefinitions: [], jobDefinitions: [] });
    for (const jobId of [JOB, REPLICA])
      await expect(containers.launch(spec(jobId))).rejects.toMatchObject({ code: "container_failed" });
  });

  it("refuse hardware that the stack has not", async () => {
    const { containers } = await gym(onTestFinished);
    await expect(containers.launch(spec(JOB, { hardware: { ...GPU, gpu: "B200" } }))).rejects.toMatchObject({
      code: "invalid_input",
      where: "hardware.gpu",
      hint: expect.stringContaining("L4") as string,
    });
  });
});
