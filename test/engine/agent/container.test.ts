import { EventEmitter } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { EXIT, runContainer, type ContainerWork } from "../../../engine/agent/container.ts";
import { realPace } from "../../../engine/agent/pace.ts";
import { answer, refusal, startFakeControlPlane, type FakeControlPlane } from "../fake-control-plane.ts";

let dir: string;
let plane: FakeControlPlane;
let host: EventEmitter;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "spotter-container-"));
  plane = await startFakeControlPlane(dir);
  host = new EventEmitter();
  plane.job = {
    protocol: 1,
    id: "job-1",
    attempt: 0,
    heartbeatEveryMs: 5,
    threads: 1,
    kind: "serve",
    endpoint: "e",
    model: { name: "spotter/nano" },
  };
});

afterEach(async () => {
  await plane[Symbol.asyncDispose]();
  await rm(dir, { recursive: true });
});

async function run(work: ContainerWork, giveUpAfterMs = 1000): Promise<number> {
  const pace = {
    ...realPace,
    sleep: (ms: number, signal?: AbortSignal) => realPace.sleep(Math.min(ms, 5), signal),
  };
  return runContainer({ ...plane.env }, work, {
    host,
    write: () => undefined,
    client: { pace, giveUpAfterMs },
  });
}

function exit() {
  return plane.events.find((event) => event.type === "exit");
}

function untilCancelled(): ContainerWork {
  return ({ client }) =>
    new Promise((resolve) => client.cancelled.addEventListener("abort", () => resolve("cancelled")));
}

describe("container", () => {
  it("names the variable that is missing", async () => {
    await expect(
      runContainer({ ...plane.env, SPOTTER_JOB_TOKEN: "" }, async () => "succeeded", { host }),
    ).rejects.toMatchObject({
      code: "invalid_input",
      where: "SPOTTER_JOB_TOKEN",
    });
  });

  it("says so, in a way worth another try, when its scratch folder is taken away", async () => {
    const workDir = join(dir, "work");
    await mkdir(workDir);
    const work: ContainerWork = async (context) => {
      await rm(context.workDir, { recursive: true });
      await writeFile(join(context.workDir, "x"), "");
      return "succeeded";
    };
    const code = await runContainer({ ...plane.env, SPOTTER_WORK_DIR: workDir }, work, {
      host,
      write: () => undefined,
    });
    expect(code).toBe(EXIT.failed);
    expect(exit()).toMatchObject({
      outcome: "failed",
      failure: { code: "container_failed", message: expect.stringContaining("was removed") as string },
    });
  });

  it("passes the log on and ends the beats with the job", async () => {
    const code = await run(async ({ log }) => {
      log.info("hello");
      return "succeeded";
    });
    expect(code).toBe(EXIT.done);
    expect(plane.events).toEqual([
      { type: "log", level: "info", message: "hello" },
      { type: "exit", outcome: "succeeded" },
    ]);
    const beats = plane.beats.length;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(plane.beats.length).toBe(beats);
    expect(host.eventNames()).toEqual([]);
  });

  it("fails with code, hint and the end of the log", async () => {
    const code = await run(async ({ log }) => {
      for (let line = 0; line < 300; line++) log.info(`line ${line}`);
      throw new SpotterError("dataset_empty", "no rows", { hint: "add some" });
    });
    expect(code).toBe(EXIT.failed);
    const failure = exit()?.failure;
    expect(failure).toMatchObject({ code: "dataset_empty", message: "no rows", hint: "add some" });
    expect(failure?.logTail?.length).toBe(200);
    expect(failure?.logTail?.at(-2)).toBe("info line 299");
  });

  it.each(["SIGTERM", "SIGINT"])("cancels on %s", async (signal) => {
    const done = run(untilCancelled());
    while (plane.beats.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    host.emit(signal);
    expect(await done).toBe(EXIT.done);
    expect(exit()).toEqual({ type: "exit", outcome: "cancelled" });
  });

  it("reports a rejection nobody handles", async () => {
    const code = await run(() => {
      host.emit("unhandledRejection", new Error("lost"));
      return new Promise(() => undefined);
    });
    expect(code).toBe(EXIT.failed);
    expect(exit()?.failure).toMatchObject({ code: "internal", message: "lost" });
  });

  it("leaves at once when a heartbeat finds the attempt stale", async () => {
    const code = await run(() => {
      plane.intercept = (_request, response) => (answer(response, 410, refusal("attempt_stale")), true);
      return new Promise(() => undefined);
    });
    expect(code).toBe(EXIT.stale);
    expect(exit()).toBeUndefined();
  });

  it("leaves when the control plane stays away", async () => {
    const code = await run(() => {
      plane.intercept = (request) => (request.socket.destroy(), true);
      return new Promise(() => undefined);
    }, 100);
    expect(code).toBe(EXIT.lost);
  });

  it("leaves when its reports are refused", async () => {
    const code = await run(({ log }) => {
      plane.intercept = (request, response) =>
        request.url?.endsWith("/events") === true && (answer(response, 400, refusal("invalid_input")), true);
      log.info("refused");
      return new Promise(() => undefined);
    });
    expect(code).toBe(EXIT.lost);
  });

  it("fails when the job cannot be fetched", async () => {
    plane.job = undefined;
    expect(await run(async () => "succeeded")).toBe(EXIT.failed);
    expect(plane.events).toEqual([]);
  });
});
