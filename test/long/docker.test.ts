// What the stand-in of docker is held against: Docker itself, where it answers. GPUs are not needed.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { DockerCli } from "../../functions/local/docker-containers/docker-cli.ts";
import { openDockerContainers } from "../../functions/local/docker-containers.ts";
import { nameOf } from "../../functions/local/docker-containers/run-args.ts";
import { systemClock } from "../../functions/system/system-clock.ts";
import { containersContract, ended, says } from "../contract/containers/suite.ts";
import { environmentFor, failingLog } from "../functions/local/process-containers-fixture.ts";

/** An image of this machine with Node 24 in it, such as node:24. */
const image = process.env["SPOTTER_TEST_IMAGE"];
const answers = spawnSync("docker", ["info"]).status === 0;
const isReady = answers && image !== undefined;
if (!isReady) {
  const reason = answers
    ? "SPOTTER_TEST_IMAGE names no image with Node in it"
    : "`docker info` does not answer";
  process.stderr.write(`skipped: Docker itself is not tested, since ${reason}.\n`);
}
const call = (...args: string[]) => execFileSync("docker", args, { encoding: "utf8" }).trim();

const overlayImages = () =>
  call("image", "ls", "--format", "{{.Repository}}:{{.Tag}}", "spotter-overlay").split("\n").filter(Boolean);

async function open(gpus: string | null = null) {
  const folder = mkdtempSync(join(tmpdir(), "spotter-docker-"));
  const home = join(folder, "home");
  const containers = await openDockerContainers({
    home,
    docker: new DockerCli({ environment: process.env }),
    imageOf: () => image,
    gpus,
    agent: { command: ["node", "/spotter/agent/container.ts"], environment: {} },
    agentDir: fileURLToPath(new URL("../fixtures/local", import.meta.url)),
    clock: systemClock(),
    log: failingLog,
    closeGraceMs: 200,
  });
  const dispose = async () => {
    await containers.close();
    const label = `label=spotter.home`;
    expect(call("ps", "--all", "--quiet", "--filter", label, "--filter", `name=${nameOf(home, "")}`)).toBe(
      "",
    );
    rmSync(folder, { recursive: true });
  };
  return { containers, home, dispose };
}

/** Memory for a program that idles, and not for one that eats. */
const LIMIT = "100m";
const EATS = "for (const all = []; ; ) all.push(Buffer.alloc(4e6, 1))";

describe.skipIf(!isReady)("Docker itself", () => {
  containersContract("DockerContainers", async () => {
    const { containers, home, dispose } = await open();
    return {
      containers,
      environmentFor,
      async killForMemory(jobId) {
        const name = nameOf(home, jobId);
        call("update", "--memory", LIMIT, "--memory-swap", LIMIT, name);
        // The system takes the largest, which is the one that eats; without it the container is of no use.
        spawnSync("docker", ["exec", name, "node", "-e", EATS]);
        call("kill", name);
      },
      dispose,
    };
  });

  it("makes the image of an overlay once, and gives no mark of ours to it", async () => {
    const { containers, home, dispose } = await open();
    const before = overlayImages();
    onTestFinished(async () => {
      await dispose();
      for (const name of overlayImages()) if (!before.includes(name)) call("image", "rm", name);
    });
    const commands = [`echo ${Date.now()} > /told`, "cat /told /told > /twice"];
    const launch = (jobId: string, actions: string, imageOverlay: string[]) =>
      containers.launch({
        jobId,
        kind: "eval",
        engine: "slime",
        imageOverlay,
        environment: environmentFor(actions),
      });
    await launch("job-1", "say=up forever", commands);
    await says(containers, "job-1", "up");
    expect(call("exec", nameOf(home, "job-1"), "cat", "/twice").split("\n")).toHaveLength(2);
    const labels = overlayImages().map((name) =>
      call("image", "inspect", "--format", '{{index .Config.Labels "spotter.home"}}', name),
    );
    expect(new Set(labels)).toEqual(new Set([""]));
    await launch("job-2", "say=here", commands);
    expect(await ended(containers, "job-2")).toMatchObject({
      reason: "done",
      logTail: [
        ...commands.map((command, index) => `image overlay ${index + 1} of 2, made before: ${command}`),
        "here",
      ],
    });
    await launch("job-3", "say=here", [...commands, "echo no >&2; exit 3"]);
    expect(await ended(containers, "job-3")).toMatchObject({
      failure: { code: "invalid_input", hint: "no" },
    });
  });

  it("gives GPUs where it has the runtime, and else says what the daemon understands", async () => {
    const { containers, dispose } = await open("all");
    onTestFinished(dispose);
    await containers.launch({
      jobId: "job-1",
      kind: "eval",
      engine: "slime",
      environment: environmentFor(""),
    });
    const hasRuntime = call("info", "--format", "{{json .Runtimes}}").includes('"nvidia"');
    const expected = hasRuntime ? { reason: "done" } : { failure: { code: "gpu_missing" } };
    expect(await ended(containers, "job-1")).toMatchObject(expected);
  });
});
