import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { findProcess } from "../../../functions/local/process-identity.ts";
import type { LocalContainers } from "../../../functions/local/local-containers.ts";
import {
  pathsOf,
  saveRecord,
  type ContainerRecord,
} from "../../../functions/local/local-containers/record.ts";
import { ended, says } from "../../contract/containers/suite.ts";
import { environmentFor, isAlive, openContainers } from "./process-containers-fixture.ts";
import { useFolder } from "./use-folder.ts";

// Processes start slowly on a busy machine.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const LONG = { timeout: 15_000 };
const folder = useFolder();
const opened: LocalContainers[] = [];
afterEach(async () => {
  for (const containers of opened.splice(0).reverse()) await containers.close();
});

async function open(): Promise<LocalContainers> {
  const containers = await openContainers(folder("home"), { closeGraceMs: 0 });
  opened.push(containers);
  return containers;
}

/** Launches trainings from a process of its own, and kills that process. */
async function launchAndDie(...jobs: string[]): Promise<void> {
  const daemon = join(import.meta.dirname, "../../fixtures/local/containers-daemon.ts");
  const child = spawn(process.execPath, [daemon, folder("home"), ...jobs], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
}

function record(jobId: string, rest: Record<string, unknown>): void {
  mkdirSync(folder("home", "containers"), { recursive: true });
  saveRecord(pathsOf(folder("home"), jobId).record, {
    v: 1,
    jobId,
    kind: "train",
    ...rest,
  } as ContainerRecord);
}

function readRecord(jobId: string): ContainerRecord & { pid: number } {
  return JSON.parse(readFileSync(pathsOf(folder("home"), jobId).record, "utf8")) as ContainerRecord & {
    pid: number;
  };
}

const intent = (actions: string) => ({
  state: "intent",
  createdAtMs: 1,
  environment: environmentFor(actions),
});
const started = () => readFileSync(folder("count"), "utf8").trim().split("\n");

describe("after the daemon was killed", () => {
  it("a container that lives is taken over, with its logs, and its end is seen", async () => {
    await launchAndDie(`job-1=count=${folder("count")} say=before until=${folder("go")} say=after exit=7`);
    const containers = await open();
    expect(await containers.describe("job-1")).toEqual({ state: "running" });
    await says(containers, "job-1", "before");
    writeFileSync(folder("go"), "");
    expect(await ended(containers, "job-1")).toMatchObject({
      exitCode: 7,
      reason: "error",
      logTail: ["before", "after"],
    });
    expect(started()).toHaveLength(1);
  });

  it("a container that lives can be stopped, and is not launched again", async () => {
    await launchAndDie(`job-1=count=${folder("count")} deaf say=up forever`);
    const containers = await open();
    await says(containers, "job-1", "up");
    await containers.launch({ jobId: "job-1", kind: "train", environment: environmentFor("say=double") });
    const { pid } = readRecord("job-1");
    await containers.stop("job-1", 50);
    expect(await containers.describe("job-1")).toMatchObject({ state: "exited", reason: "user" });
    expect(isAlive(pid)).toBe(false);
    expect(started()).toHaveLength(1);
  });

  it("the code of one that ended meanwhile is known", async () => {
    await launchAndDie(`job-1=until=${folder("go")} exit=5`);
    const { pid } = readRecord("job-1");
    writeFileSync(folder("go"), "");
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), LONG);
    const containers = await open();
    expect(await containers.describe("job-1")).toMatchObject({ exitCode: 5, reason: "error" });
    expect(readdirSync(folder("home", "work"))).toEqual([]);
  });

  it("one that was killed meanwhile, whole, is known to have failed", async () => {
    await launchAndDie("job-1=forever");
    const { pid } = readRecord("job-1");
    process.kill(-pid, "SIGKILL");
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), LONG);
    const containers = await open();
    expect(await containers.describe("job-1")).toMatchObject({ exitCode: null, reason: "error" });
  });

  it("those that waited go on waiting, and start when there is room", async () => {
    await launchAndDie("job-1=forever", `job-2=count=${folder("count")}`);
    const containers = await open();
    expect(await containers.describe("job-2")).toEqual({ state: "waiting", reason: "capacity" });
    await containers.stop("job-1", 0);
    expect(await ended(containers, "job-2")).toMatchObject({ exitCode: 0, reason: "done" });
    expect(started()).toHaveLength(1);
  });
});

describe("after a crash in the midst of a launch", () => {
  it("an intent without a process is started, once", async () => {
    record("job-1", intent(`count=${folder("count")} say=up forever`));
    const containers = await open();
    await containers.launch({ jobId: "job-1", kind: "train", environment: environmentFor("say=double") });
    await says(containers, "job-1", "up");
    expect(await containers.describe("job-1")).toEqual({ state: "running" });
    expect(started()).toHaveLength(1);
  });

  it("an intent whose process had already started is taken over, not doubled", async () => {
    const actions = `count=${folder("count")} say=up forever`;
    await launchAndDie(`job-1=${actions}`);
    const { pid } = readRecord("job-1");
    record("job-1", intent(actions));
    const containers = await open();
    expect(await containers.describe("job-1")).toEqual({ state: "running" });
    expect(readRecord("job-1").pid).toBe(pid);
    await says(containers, "job-1", "up");
    expect(started()).toHaveLength(1);
  });
});

describe("a new owner of the home", () => {
  it("starts those that waited when an orderly end stopped the one that ran", async () => {
    const first = await open();
    const launch = (jobId: string, actions: string) =>
      first.launch({ jobId, kind: "train", environment: environmentFor(actions) });
    await launch("job-1", "say=up forever");
    await says(first, "job-1", "up");
    await launch("job-2", `count=${folder("count")}`);
    await first.close();
    expect(existsSync(folder("count"))).toBe(false);
    const second = await open();
    expect(await second.describe("job-1")).toMatchObject({ state: "exited", reason: "user" });
    expect(await ended(second, "job-2")).toMatchObject({ exitCode: 0, reason: "done" });
    expect(started()).toHaveLength(1);
  });

  it("takes over from one that leaves its containers running", async () => {
    const first = await open();
    await first.launch({ jobId: "job-1", kind: "serve", environment: environmentFor("say=up forever") });
    await says(first, "job-1", "up");
    await first.close({ leaveRunning: true });
    const second = await open();
    expect(await second.list()).toEqual([{ jobId: "job-1", kind: "serve" }]);
    await second.stop("job-1", 0);
    expect(await second.describe("job-1")).toMatchObject({ reason: "user" });
  });

  it("never touches a stranger that has a container's old process id", async () => {
    const stranger = spawn(process.execPath, ["-e", "setTimeout(() => {}, 100_000)"], { detached: true });
    record("job-1", { state: "running", pid: stranger.pid, startedAt: "another time" });
    const containers = await open();
    expect(await containers.describe("job-1")).toMatchObject({ state: "exited", reason: "error" });
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    stranger.kill("SIGKILL");
    const [, signal] = (await once(stranger, "exit")) as [null, string];
    expect(signal).toBe("SIGKILL");
  });

  it("removes work folders that nobody owns", async () => {
    mkdirSync(folder("home", "work", "job-0", "deep"), { recursive: true });
    await open();
    expect(readdirSync(folder("home", "work"))).toEqual([]);
  });

  it("remembers the last two hundred that ended", async () => {
    for (let n = 1; n <= 202; n++) {
      record(`job-${n}`, { state: "exited", endedAtMs: n, exitCode: 0, reason: "done" });
    }
    const containers = await open();
    expect(await containers.describe("job-2")).toEqual({ state: "unknown" });
    expect(await containers.describe("job-3")).toMatchObject({ state: "exited", reason: "done" });
    expect(readdirSync(folder("home", "containers"))).toHaveLength(200);
  });
});

it("finds a process by an argument, and none by part of one", async () => {
  const argument = folder("marker");
  const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 100_000)", argument]);
  await once(child, "spawn");
  expect(await findProcess(argument)).toBe(child.pid);
  expect(await findProcess(argument.slice(0, -1))).toBeUndefined();
  child.kill("SIGKILL");
  await once(child, "exit");
});
