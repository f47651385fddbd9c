import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { signalGroup } from "../../../functions/local/process-identity.ts";
import type { ContainerKind } from "../../../functions/ports/containers.ts";
import type { LocalContainers } from "../../../functions/local/local-containers.ts";
import type { ProcessContainersOptions } from "../../../functions/local/process-containers.ts";
import { programOf } from "../../../functions/local/process-containers/program.ts";
import { ended, says } from "../../contract/containers/suite.ts";
import { environmentFor, isAlive, openContainers } from "./process-containers-fixture.ts";
import { useFolder } from "./use-folder.ts";

// Processes start slowly on a busy machine.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const LONG = { timeout: 15_000 };
const CONTAINER = new URL("../../fixtures/local/container.ts", import.meta.url);
const folder = useFolder();
const opened: LocalContainers[] = [];
afterEach(async () => {
  for (const containers of opened.splice(0).reverse()) await containers.close();
});

async function open(options: Partial<ProcessContainersOptions> = {}): Promise<LocalContainers> {
  const containers = await openContainers(folder("home"), { closeGraceMs: 0, ...options });
  opened.push(containers);
  return containers;
}

async function launch(
  containers: LocalContainers,
  jobId: string,
  actions: string,
  kind: ContainerKind = "train",
) {
  await containers.launch({ jobId, kind, environment: environmentFor(actions) });
}

function pidSaid(lines: string[], word: string): number {
  return Number(lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1));
}

describe("the process", () => {
  it("is known to have ended although its log cannot be read any more", async () => {
    const containers = await open();
    await launch(containers, "job-1", "say=up forever");
    await says(containers, "job-1", "up");
    const log = folder("home", "containers", "job-1.log");
    rmSync(log);
    symlinkSync(log, log);
    await containers.stop("job-1", 0);
    expect(await containers.describe("job-1")).toMatchObject({
      state: "exited",
      reason: "user",
      logTail: [],
    });
  });

  it("gets its own variables and nothing of the daemon's", async () => {
    process.env["SPOTTER_TEST_SECRET"] = "of the daemon";
    const containers = await open({ environment: { LD_LIBRARY_PATH: "/opt/lib" } });
    await launch(containers, "job-1", "environment cwd");
    await ended(containers, "job-1");
    delete process.env["SPOTTER_TEST_SECRET"];
    const [text = "", cwd] = await containers.logs("job-1", 2);
    const work = folder("home", "work", "job-1");
    const {
      PWD: _pwd,
      SHLVL: _level,
      _: _last,
      OLDPWD: _old,
      ...environment
    } = JSON.parse(text) as object & {
      [name: string]: unknown;
    };
    expect(environment).toEqual({
      ...environmentFor("environment cwd"),
      SPOTTER_WORK_DIR: work,
      SPOTTER_CACHE_DIR: folder("home", "cache"),
      TMPDIR: work,
      LD_LIBRARY_PATH: "/opt/lib",
    });
    expect(cwd).toBe(work);
  });

  it("has a work folder for as long as it lives", async () => {
    const containers = await open();
    const file = folder("home", "work", "job-1", "scratch");
    await launch(containers, "job-1", `touch=${file} say=up forever`);
    await says(containers, "job-1", "up");
    expect(existsSync(file)).toBe(true);
    await containers.stop("job-1", 0);
    expect(readdirSync(folder("home", "work"))).toEqual([]);
  });

  it("takes its descendants with it when it is stopped", async () => {
    const containers = await open();
    await launch(containers, "job-1", "polite grandchild forever");
    const pid = await vi.waitFor(async () => {
      const said = pidSaid(await containers.logs("job-1", 10), "grandchild");
      expect(said).toBeGreaterThan(0);
      return said;
    }, LONG);
    await containers.stop("job-1", 10_000);
    expect(await containers.describe("job-1")).toMatchObject({ exitCode: 0, reason: "user" });
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), LONG);
  });

  it("takes its descendants with it when it is killed", async () => {
    const containers = await open();
    await launch(containers, "job-1", "pid grandchild forever");
    await vi.waitFor(async () => expect(await containers.logs("job-1", 10)).toHaveLength(2), LONG);
    const lines = await containers.logs("job-1", 10);
    process.kill(pidSaid(lines, "pid"), "SIGKILL");
    expect(await ended(containers, "job-1")).toMatchObject({ exitCode: 137, reason: "oom" });
    await vi.waitFor(() => expect(isAlive(pidSaid(lines, "grandchild"))).toBe(false), LONG);
  });
});

describe("the budget", () => {
  const stateOf = async (containers: LocalContainers, jobId: string) =>
    (await containers.describe(jobId)).state;

  it("is one training at a time, in the order of their launch; others start beside it", async () => {
    const containers = await open();
    for (const jobId of ["train-3", "train-1", "train-2"]) {
      await launch(containers, jobId, `until=${folder(`end-${jobId}`)}`);
    }
    await launch(containers, "eval-1", "say=up forever", "eval");
    await launch(containers, "serve-1", "say=up forever", "serve");
    await says(containers, "eval-1", "up");
    await says(containers, "serve-1", "up");
    expect(await containers.describe("train-1")).toEqual({ state: "waiting", reason: "capacity" });
    expect(await stateOf(containers, "train-3")).toBe("running");
    expect((await containers.list()).map((item) => item.jobId)).toHaveLength(5);
    writeFileSync(folder("end-train-3"), "");
    await ended(containers, "train-3");
    await vi.waitFor(async () => expect(await stateOf(containers, "train-1")).toBe("running"), LONG);
    expect(await stateOf(containers, "train-2")).toBe("waiting");
    await containers.stop("train-1", 0);
    await vi.waitFor(async () => expect(await stateOf(containers, "train-2")).toBe("running"), LONG);
  });

  it("is shared with conversions, which need the same GPUs", async () => {
    const agent = { command: [process.execPath, fileURLToPath(CONTAINER)], environment: {} };
    const containers = await open({ agent });
    const convert = (jobId: string, actions: string) =>
      containers.launch({ jobId, kind: "convert", engine: "slime", environment: environmentFor(actions) });
    await launch(containers, "train-1", `until=${folder("end")}`);
    await convert("convert-2", "say=up forever");
    expect(await containers.describe("convert-2")).toEqual({ state: "waiting", reason: "capacity" });
    writeFileSync(folder("end"), "");
    await says(containers, "convert-2", "up");
    expect(await containers.list()).toEqual([{ jobId: "convert-2", kind: "convert" }]);
    // The embedded engine has no weights of another format.
    const programs = { serve: CONTAINER, train: CONTAINER, eval: CONTAINER };
    expect(() => programOf({ programs, agent }, { kind: "convert" })).toThrow(
      "Nothing here runs conversions",
    );
  });

  it("is not taken by a conversion beside a training, not even after a restart", async () => {
    const agent = { command: [process.execPath, fileURLToPath(CONTAINER)], environment: {} };
    const containers = await open({ agent });
    await launch(containers, "train-1", "say=up forever");
    const beside = { kind: "convert", engine: "slime", isBeside: true } as const;
    await containers.launch({ jobId: "convert-2", ...beside, environment: environmentFor("say=up forever") });
    await says(containers, "convert-2", "up");
    await containers.stop("train-1", 0);
    await containers.close({ leaveRunning: true });
    const next = await open({ agent });
    await launch(next, "train-3", "say=up forever");
    await says(next, "train-3", "up");
    expect(await stateOf(next, "convert-2")).toBe("running");
  });

  it("lets one that waits be stopped without ever starting", async () => {
    const containers = await open();
    await launch(containers, "first", "forever");
    await launch(containers, "second", `count=${folder("count")}`);
    await containers.stop("second", 1000);
    expect(await containers.describe("second")).toMatchObject({
      state: "exited",
      reason: "user",
      exitCode: null,
    });
    await containers.stop("first", 0);
    expect(existsSync(folder("count"))).toBe(false);
  });

  it("lets one that waits be launched anew, and starts it once, with the newer environment", async () => {
    const containers = await open();
    await launch(containers, "first", "forever");
    await launch(containers, "second", "say=old-token");
    await launch(containers, "second", "say=new-token");
    await containers.stop("first", 0);
    expect(await ended(containers, "second")).toMatchObject({ reason: "done", logTail: ["new-token"] });
  });

  it("can be larger", async () => {
    const containers = await open({ maxTrains: 2 });
    for (const jobId of ["a", "b", "c"]) await launch(containers, jobId, "forever");
    expect(await stateOf(containers, "b")).toBe("running");
    expect(await stateOf(containers, "c")).toBe("waiting");
  });
});

describe("logs", () => {
  it("are cut when they are large, and keep the last lines", async () => {
    const containers = await open({ maxLogBytes: 20_000 });
    await launch(containers, "job-1", "lines=10000 say=end forever");
    await says(containers, "job-1", "end");
    const path = folder("home", "containers", "job-1.log");
    await vi.waitFor(() => expect(statSync(path).size).toBe(0), LONG);
    expect(statSync(`${path}.1`).size).toBe(10_000);
    expect(await containers.logs("job-1", 3)).toEqual(["line 9999", "line 10000", "end"]);
  });

  it("hide what must not be seen", async () => {
    const containers = await open({ redact: (text) => text.replaceAll("hunter2", "[redacted]") });
    await launch(containers, "job-1", "say=password:hunter2 exit=1");
    expect(await ended(containers, "job-1")).toMatchObject({ logTail: ["password:[redacted]"] });
    expect(await containers.logs("job-1", 5)).toEqual(["password:[redacted]"]);
  });
});

it("reports a program that is not there", async () => {
  const none = new URL("file:///nonexistent/program.js");
  const containers = await open({ programs: { serve: none, train: none, eval: none } });
  await launch(containers, "job-1", "");
  expect(await ended(containers, "job-1")).toMatchObject({
    exitCode: 1,
    reason: "error",
    logTail: expect.arrayContaining([expect.stringContaining("Cannot find module")]) as string[],
  });
});

it("keeps the token out of sight, and off the disk once the process has it", async () => {
  const containers = await open();
  await launch(containers, "job-1", "say=up forever");
  await launch(containers, "job-2", "say=waits");
  const first = folder("home", "containers", "job-1.json");
  const second = folder("home", "containers", "job-2.json");
  expect(readFileSync(first, "utf8")).not.toContain("forever");
  expect(readFileSync(second, "utf8")).toContain("say=waits");
  expect(statSync(second).mode & 0o777).toBe(0o600);
});

it("refuses a home with a damaged record, and names the file", async () => {
  mkdirSync(folder("home", "containers"), { recursive: true });
  writeFileSync(folder("home", "containers", "job-1.json"), "{");
  await expect(open()).rejects.toMatchObject({
    code: "state_unreadable",
    where: folder("home", "containers", "job-1.json"),
  });
});

it("does not signal a group that is gone", () => {
  expect(() => signalGroup(2 ** 22 + 1, "SIGTERM")).not.toThrow();
});
