import { describe, expect, it, onTestFinished, vi } from "vitest";
import { gym, spec } from "../gym.ts";
import { awsPlane, MINUTE_MS, SERVES, TRAINS_ON_CPU } from "./plane.ts";
import { onlyContainer } from "./started.ts";

const CALLS = { "serve-base-r1-1": "RunTask", "train-run-1-a1": "SubmitJob" } as const;
const JOBS = Object.keys(CALLS) as (keyof typeof CALLS)[];
const LOST = { lost: true } as const;

describe("a launch whose answer is lost", () => {
  it.each(JOBS)("started one container: %s", async (jobId) => {
    const { aws, containers, passUntil } = await gym(onTestFinished);
    aws.control.failNext(CALLS[jobId], LOST);
    await passUntil(containers.launch(spec(jobId)));
    await aws.clock.advance(MINUTE_MS);
    expect(aws.containers.all).toHaveLength(1);
    expect(await containers.describe(jobId)).toMatchObject({ state: "running" });
  });

  it.each(JOBS)("is tried again where nothing had been started: %s", async (jobId) => {
    const { aws, containers, passUntil } = await gym(onTestFinished);
    aws.control.fail(CALLS[jobId], { unreachable: true }, { count: 1 });
    await passUntil(containers.launch(spec(jobId)));
    await aws.clock.advance(MINUTE_MS);
    expect(aws.containers.all).toHaveLength(1);
  });

  it.each(JOBS)("makes no double when its process dies over it: %s", async (jobId) => {
    const { aws, containers, another, passUntil } = await gym(onTestFinished);
    aws.control.failNext(CALLS[jobId], LOST);
    // Its lists fail as well: this process never learns that it started something.
    aws.control.fail("ListTasks", { unreachable: true }, { count: 50 });
    aws.control.fail("ListJobs", { unreachable: true }, { count: 50 });
    await passUntil(containers.launch(spec(jobId)).catch(() => undefined));
    aws.control.clear();
    await another().launch(
      spec(jobId, { environment: { ...spec(jobId).environment, SPOTTER_JOB_TOKEN: "newer" } }),
    );
    await aws.clock.advance(MINUTE_MS);
    expect(aws.calls.filter(({ operation }) => operation === CALLS[jobId]).length).toBeLessThanOrEqual(2);
    expect(aws.containers.all.length).toBeLessThanOrEqual(1);
  });

  it("started one task even where the lists do not know it yet", async () => {
    const { aws, containers, another } = await gym(onTestFinished);
    await containers.launch(spec("serve-base-r1-1"));
    const late = another();
    // The lists are late by a moment, which only the client token bridges.
    const environment = { ...spec("serve-base-r1-1").environment, SPOTTER_JOB_TOKEN: "newer" };
    aws.control.fail("ListTasks", { error: "ClusterNotFoundException", message: "not yet" }, { count: 1 });
    await late.launch(spec("serve-base-r1-1", { environment })).catch(() => undefined);
    await late.launch(spec("serve-base-r1-1", { environment }));
    await aws.clock.advance(MINUTE_MS);
    expect(aws.containers.all).toHaveLength(1);
  });
});

describe("a control plane that dies", () => {
  it("over a RunTask, and its heir that does not see the task yet, leave a replica that works", async () => {
    const plane = await awsPlane(onTestFinished, SERVES);
    await plane.launchEndpoint();
    const blind = vi.spyOn(await plane.apis.ecs(), "listTasks");
    blind.mockResolvedValue({ $metadata: {}, taskArns: [] });
    await plane.restart();
    blind.mockRestore();
    const container = await onlyContainer(plane);
    expect(plane.aws.calls.filter(({ operation }) => operation === "RunTask").length).toBe(2);
    // It was started with the first token; the last one that was written down is another.
    const job = plane.job(container);
    expect(await job.beat()).toBe(true);
    await job.report({ type: "ready", address: "127.0.0.1:1" });
    await plane.until(async () => (await plane.endpoint()).state === "ready", MINUTE_MS);
    expect(plane.aws.containers.all).toHaveLength(1);
  });

  it("between the launch of a job and the record of it, leaks nothing and starts no other one", async () => {
    const plane = await awsPlane(onTestFinished, TRAINS_ON_CPU);
    // Every write after the launch is lost with the process.
    const put = plane.store.put.bind(plane.store);
    let isDead = false;
    plane.store.put = async (...args) => {
      const launched = plane.aws.calls.some(({ operation }) => operation === "SubmitJob");
      if (launched && !isDead) throw new Error("the process is dead");
      return put(...args);
    };
    const id = await plane.launchRun();
    await plane.pass(15_000);
    isDead = true;
    await plane.restart();
    await plane.until(async () => (await plane.run(id)).state === "starting", 2 * MINUTE_MS);
    expect(plane.aws.calls.filter(({ operation }) => operation === "SubmitJob")).toHaveLength(1);
    expect(plane.aws.containers.all).toHaveLength(1);
    const [container] = plane.aws.containers.all;
    if (container === undefined) throw new Error("no container");
    // Its token is the one that was stored before the launch: it can work.
    expect(await plane.job(container).beat()).toBe(true);
    await plane.until(async () => (await plane.run(id)).state === "running", MINUTE_MS);
  });
});
