import { spawnSync } from "node:child_process";
import { afterEach, describe, expect, it, vi } from "vitest";
import { DockerCli } from "../../../functions/local/docker-containers/docker-cli.ts";
import { openHomeContainers } from "../../../functions/local/home-containers.ts";
import type { LocalContainers } from "../../../functions/local/local-containers.ts";
import { systemClock } from "../../../functions/system/system-clock.ts";
import type { EngineImages } from "../../../sdk/schema/engine-images.ts";
import { ended, says } from "../../contract/containers/suite.ts";
import { fakeDocker } from "../../fakes/docker/index.ts";
import { environmentFor, failingLog } from "./process-containers-fixture.ts";
import { useFolder } from "./use-folder.ts";

vi.setConfig({ testTimeout: 30_000 });

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 for the stand-in of docker\n");

const program = new URL("../../fixtures/local/container.ts", import.meta.url);
const folder = useFolder();
const opened: LocalContainers[] = [];
afterEach(async () => {
  for (const containers of opened.splice(0).reverse()) await containers.close();
});

async function open(images: EngineImages | undefined) {
  const docker = fakeDocker(folder());
  docker.addImage("gym/vllm:1");
  const containers = await openHomeContainers({
    home: folder("home"),
    programs: { serve: program, train: program, eval: program },
    agent: { command: [process.execPath, program.pathname], environment: {} },
    docker: new DockerCli({ program: docker.program, environment: process.env }),
    images,
    clock: systemClock(),
    log: failingLog,
    closeGraceMs: 0,
  });
  opened.push(containers);
  const launch = (jobId: string, engine: "vllm" | "slime" | undefined, actions: string) =>
    containers.launch({
      jobId,
      kind: "serve",
      ...(engine && { engine }),
      environment: environmentFor(actions),
    });
  return { containers, docker, launch };
}

describe.runIf(hasPython)("the containers of a machine", () => {
  it("are in Docker where their engine has an image, and processes where it is the embedded one", async () => {
    const { containers, docker, launch } = await open({ vllm: "gym/vllm:1" });
    await launch("embedded", undefined, "say=up forever");
    await launch("vllm", "vllm", "say=up forever");
    await launch("slime", "slime", "say=up forever");
    await says(containers, "embedded", "up");
    await says(containers, "vllm", "up");
    expect(docker.containers()).toHaveLength(1);
    expect(await ended(containers, "slime")).toMatchObject({ failure: { code: "engine_missing" } });
    expect((await containers.list()).map(({ jobId }) => jobId)).toEqual(["embedded", "vllm"]);
  });

  it("are looked after in Docker also by a daemon that starts none there", async () => {
    const first = await open({ vllm: "gym/vllm:1" });
    await first.launch("vllm", "vllm", "say=up forever");
    await says(first.containers, "vllm", "up");
    await first.containers.close({ leaveRunning: true });
    const { containers, docker } = await open(undefined);
    expect(await containers.describe("vllm")).toEqual({ state: "running" });
    await containers.stop("vllm", 0);
    expect(docker.containers()).toEqual([]);
  });
});
