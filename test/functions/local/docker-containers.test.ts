import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { DockerContainersOptions } from "../../../functions/local/docker-containers.ts";
import { nameOf } from "../../../functions/local/docker-containers/run-args.ts";
import type { LocalContainers } from "../../../functions/local/local-containers.ts";
import { DockerCli } from "../../../functions/local/docker-containers/docker-cli.ts";
import { ended, says } from "../../contract/containers/suite.ts";
import { fakeDocker } from "../../fakes/docker/index.ts";
import { openInDocker } from "./docker-containers-fixture.ts";
import { environmentFor } from "./process-containers-fixture.ts";
import { useFolder } from "./use-folder.ts";

// Programs start slowly on a busy machine.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 for the stand-in of docker\n");

const folder = useFolder();
const opened: LocalContainers[] = [];
afterEach(async () => {
  for (const containers of opened.splice(0).reverse()) await containers.close();
});

async function open(options: Partial<DockerContainersOptions> = {}) {
  const both = await openInDocker(folder(), { closeGraceMs: 0, ...options });
  opened.push(both.containers);
  return both;
}

const launch = (containers: LocalContainers, jobId: string, actions: string, imageOverlay?: string[]) =>
  containers.launch({
    jobId,
    kind: "train",
    engine: "slime",
    environment: environmentFor(actions),
    ...(imageOverlay && { imageOverlay }),
  });
const convert = (containers: LocalContainers, jobId: string, actions: string) =>
  containers.launch({ jobId, kind: "convert", engine: "slime", environment: environmentFor(actions) });
const name = (jobId: string) => nameOf(folder("home"), jobId);
const runsOf = (calls: string[][], jobId: string) =>
  calls.filter(([verb, ...words]) => verb === "run" && words.includes(name(jobId)));

describe.skipIf(!hasPython)("a container in Docker", () => {
  it("gets its variables by a file that is gone, and nothing of the daemon's", async () => {
    vi.stubEnv("SPOTTER_TEST_SECRET", "of the daemon");
    const { containers, docker } = await open({ maxTrains: 2 });
    await launch(containers, "job-1", "environment");
    await launch(containers, "job-2", "say=up forever");
    await ended(containers, "job-1");
    vi.unstubAllEnvs();
    const [text = ""] = await containers.logs("job-1", 1);
    const environment = JSON.parse(text) as Record<string, string>;
    expect(environment).toMatchObject(environmentFor("environment"));
    expect(environment["SPOTTER_WORK_DIR"]).toContain(name("job-1"));
    expect(environment["SPOTTER_TEST_SECRET"]).toBeUndefined();
    await says(containers, "job-2", "up");
    // The token is what it does: it must be in no argument.
    expect(JSON.stringify(docker.calls())).not.toContain("forever");
    expect(readdirSync(folder("home", "containers")).filter((file) => file.includes(".env"))).toEqual([]);
    expect(readFileSync(folder("home", "containers", "job-2.json"), "utf8")).not.toContain("forever");
    expect(docker.spec(name("job-2"))).toMatchObject({
      labels: { "spotter.job": "job-2", "spotter.kind": "train", "spotter.engine": "slime" },
      words: expect.arrayContaining(["--gpus", "all", "--network", "host"]) as string[],
    });
  });

  it("leaves nothing in Docker when it has ended", async () => {
    const { containers, docker } = await open();
    await launch(containers, "job-1", "say=one exit=3");
    expect(await ended(containers, "job-1")).toMatchObject({ exitCode: 3, logTail: ["one"] });
    await vi.waitFor(() => expect(docker.containers()).toEqual([]));
    expect(await containers.logs("job-1", 5)).toEqual(["one"]);
  });

  it("is found again by the next daemon, which sees its end", async () => {
    const first = await open();
    await launch(first.containers, "job-1", `say=up until=${folder("go")} exit=7`);
    await says(first.containers, "job-1", "up");
    await first.containers.close({ leaveRunning: true });
    const { containers, docker } = await open();
    expect(await containers.describe("job-1")).toEqual({ state: "running" });
    await launch(containers, "job-1", "say=double");
    writeFileSync(folder("go"), "");
    expect(await ended(containers, "job-1")).toMatchObject({ exitCode: 7, reason: "error", logTail: ["up"] });
    expect(runsOf(docker.calls(), "job-1")).toHaveLength(1);
  });

  it("is found by its labels alone, and not started a second time", async () => {
    const first = await open({ maxTrains: 2 });
    await convert(first.containers, "lost", "say=up forever");
    await launch(first.containers, "intent", "say=up forever");
    await says(first.containers, "lost", "up");
    await says(first.containers, "intent", "up");
    await first.containers.close({ leaveRunning: true });
    rmSync(folder("home", "containers", "lost.json"));
    const intent = {
      v: 1,
      jobId: "intent",
      kind: "train",
      platform: "docker",
      state: "intent",
      createdAtMs: 1,
    };
    const stored = { ...intent, environment: environmentFor("say=double") };
    writeFileSync(folder("home", "containers", "intent.json"), JSON.stringify(stored));
    writeFileSync(folder("home", "containers", "intent.json.env"), "SPOTTER_JOB_TOKEN=left behind");
    const { containers, docker } = await open({ maxTrains: 2 });
    expect(existsSync(folder("home", "containers", "intent.json.env"))).toBe(false);
    expect(new Map((await containers.list()).map(({ jobId, kind }) => [jobId, kind]))).toEqual(
      new Map([
        ["intent", "train"],
        ["lost", "convert"],
      ]),
    );
    expect(runsOf(docker.calls(), "intent")).toHaveLength(1);
    await containers.stop("lost", 0);
    expect(await containers.describe("lost")).toMatchObject({ state: "exited", reason: "user" });
  });

  it("is not started by two that call at once", async () => {
    // The call of a daemon that was killed arrives after the next one has looked.
    class Late extends DockerCli {
      #isLate = true;
      override async call(...[args, options]: Parameters<DockerCli["call"]>): Promise<string> {
        if (args[0] === "run" && this.#isLate) {
          this.#isLate = false;
          await super.call(args, options);
        }
        return await super.call(args, options);
      }
    }
    const { program } = fakeDocker(folder());
    const { containers, docker } = await open({ docker: new Late({ program, environment: process.env }) });
    await launch(containers, "job-1", "say=up forever");
    await says(containers, "job-1", "up");
    expect(await containers.describe("job-1")).toEqual({ state: "running" });
    expect(runsOf(docker.calls(), "job-1")).toHaveLength(2);
    expect(docker.containers()).toEqual([name("job-1")]);
  });

  it("can be given up while Docker is away, and is found when it is back", async () => {
    const told: string[] = [];
    const log = { debug() {}, info() {}, error() {}, warn: (message: string) => void told.push(message) };
    const { containers, docker } = await open({ log });
    await launch(containers, "job-1", "say=up forever");
    await says(containers, "job-1", "up");
    docker.break("down");
    await containers.stop("job-1", 0);
    expect(told).toContain("A container could not be told to end.");
    docker.mend("down");
    expect(docker.containers()).toEqual([name("job-1")]);
    await containers.close();
    await open();
    expect(docker.containers()).toEqual([]);
  });
});

describe.skipIf(!hasPython)("what cannot start", () => {
  const cases: [string, string, string, Partial<DockerContainersOptions>][] = [
    ["no such image", "image", "image_unavailable", { imageOf: () => "gym/none:1" }],
    ["no image of this engine", "error", "engine_missing", { imageOf: () => undefined }],
    ["no GPU", "error", "gpu_missing", {}],
    ["no such program", "error", "container_failed", { agent: { command: ["none"], environment: {} } }],
  ];
  it.each(cases)("is told apart: %s", async (what, reason, code, options) => {
    const { containers, docker } = await open(options);
    if (what === "no GPU") docker.break("no-gpu");
    await launch(containers, "job-1", "");
    const failure = { code, message: expect.any(String) as string };
    expect(await ended(containers, "job-1")).toMatchObject({ reason, exitCode: null, failure });
    await vi.waitFor(() => expect(docker.containers()).toEqual([]));
  });

  it("is refused before Docker is asked: a variable of several lines", async () => {
    const { containers, docker } = await open();
    const environment = { ...environmentFor(""), TEXT: "one\ntwo" };
    await containers.launch({ jobId: "job-1", kind: "train", engine: "slime", environment });
    const failure = { code: "invalid_input", message: expect.stringContaining('"TEXT"') as string };
    expect(await ended(containers, "job-1")).toMatchObject({ failure });
    expect(runsOf(docker.calls(), "job-1")).toEqual([]);
  });

  it("waits for its image to be pulled, and says so", async () => {
    const { containers, docker } = await open({ imageOf: () => "gym/far:1" });
    docker.addImage("gym/far:1", {}, "remote");
    const seen: unknown[] = [];
    containers.onChange((jobId) => void containers.describe(jobId).then((state) => seen.push(state)));
    await launch(containers, "job-1", "say=here");
    expect(await ended(containers, "job-1")).toMatchObject({ reason: "done" });
    expect(seen).toContainEqual({ state: "waiting", reason: "image", detail: "pulling gym/far:1" });
  });
});

describe.skipIf(!hasPython)("an image overlay", () => {
  const count = (word: string) => `echo ${word} >> ${folder("commands")}`;
  const commandsRun = () => readFileSync(folder("commands"), "utf8").trim().split("\n");

  it("is made once, up to the first command that differs, and known to the agent inside", async () => {
    const { containers, docker } = await open();
    await launch(containers, "job-1", "environment", [count("one"), count("two")]);
    await ended(containers, "job-1");
    await launch(containers, "job-2", "environment", [count("one"), count("two")]);
    await ended(containers, "job-2");
    expect(commandsRun()).toEqual(["one", "two"]);
    // What others make of the image is not ours.
    expect(docker.imageLabels()).toEqual([{ "spotter.home": "" }, { "spotter.home": "" }]);
    const [text = ""] = await containers.logs("job-2", 1);
    const program =
      "import json,sys; from spotter_agent.overlay import overlay_hash as h; print(h(json.loads(sys.argv[1])))";
    const told = spawnSync("python3", ["-B", "-c", program, JSON.stringify([count("one"), count("two")])], {
      cwd: new URL("../../../engine/python", import.meta.url),
      encoding: "utf8",
    });
    const { SPOTTER_IMAGE_OVERLAY: applied } = JSON.parse(text) as Record<string, string>;
    expect(applied).toBe(told.stdout.trim());
    await launch(containers, "job-3", "say=up", [count("one"), count("three")]);
    await ended(containers, "job-3");
    expect(commandsRun()).toEqual(["one", "two", "three"]);
  });

  it("that fails says which command, and what it wrote last; the next try begins there", async () => {
    const { containers, docker } = await open({ maxTrains: 2 });
    const broken = "echo first >&2\necho second; echo no such package >&2; exit 4";
    await launch(containers, "job-1", `touch=${folder("ran")}`, [count("one"), broken]);
    const state = await ended(containers, "job-1");
    expect(state).toMatchObject({
      reason: "error",
      failure: {
        code: "invalid_input",
        message: `imageOverlay[1]: the command ended with exit code 4: ${broken}`,
        hint: "no such package",
      },
      logTail: expect.arrayContaining(["first", "second", "no such package"]) as string[],
    });
    expect(existsSync(folder("ran"))).toBe(false);
    await vi.waitFor(() => expect(docker.containers()).toEqual([]));
    await launch(containers, "job-2", "say=up", [count("one"), count("two")]);
    expect(await ended(containers, "job-2")).toMatchObject({ reason: "done" });
    expect(commandsRun()).toEqual(["one", "two"]);
  });

  it("that fails as Docker does is still the command's failure, and Docker's is Docker's", async () => {
    const { containers, docker } = await open();
    const broken = "echo docker: I failed myself >&2; exit 125";
    await launch(containers, "job-1", "say=up", [broken]);
    expect(await ended(containers, "job-1")).toMatchObject({
      failure: {
        code: "invalid_input",
        message: `imageOverlay[0]: the command ended with exit code 125: ${broken}`,
        hint: "docker: I failed myself",
      },
    });
    docker.break("no-gpu");
    await launch(containers, "job-2", "say=up", ["true"]);
    expect(await ended(containers, "job-2")).toMatchObject({ failure: { code: "gpu_missing" } });
  });

  it("that is stopped leaves no container, and starts nothing", async () => {
    const { containers, docker } = await open();
    await launch(containers, "job-1", `touch=${folder("ran")}`, [`touch ${folder("begun")}; sleep 100`]);
    await vi.waitFor(() => expect(existsSync(folder("begun"))).toBe(true), 10_000);
    expect(await containers.describe("job-1")).toMatchObject({ state: "waiting", reason: "image" });
    await containers.stop("job-1", 1000);
    expect(await containers.describe("job-1")).toMatchObject({ state: "exited", reason: "user" });
    expect(docker.containers()).toEqual([]);
    expect(existsSync(folder("ran"))).toBe(false);
  });
});
