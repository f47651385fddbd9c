import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { DockerCli } from "../../../../functions/local/docker-containers/docker-cli.ts";
import { checkDocker } from "../../../../functions/local/docker-containers/preflight.ts";
import { fakeDocker, type FakeDocker } from "../../../fakes/docker/index.ts";
import { useFolder } from "../use-folder.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 for the stand-in of docker\n");

const folder = useFolder();
const containing = (text: string) => expect.stringContaining(text) as string;
const check = (environment: NodeJS.ProcessEnv) => checkDocker(new DockerCli({ environment }), environment);

describe.runIf(hasPython)("what containers with GPUs need", () => {
  it("is Docker with the runtime of NVIDIA", async () => {
    await check({ PATH: `${fakeDocker(folder()).bin}:/bin` });
  });

  it.each<[string, (docker: FakeDocker) => void, NodeJS.ProcessEnv, object]>([
    [
      "is down",
      (docker) => docker.break("down"),
      {},
      { code: "docker_missing", hint: containing("systemctl start docker") },
    ],
    [
      "refuses us",
      (docker) => docker.break("denied"),
      {},
      { code: "docker_missing", hint: containing("usermod") },
    ],
    [
      "has no GPU",
      (docker) => docker.setInfo({ Runtimes: { runc: {} } }),
      {},
      { code: "gpu_missing", hint: containing("nvidia-ctk") },
    ],
    [
      "is rootless",
      (docker) => docker.setInfo({ Runtimes: { nvidia: {} }, SecurityOptions: ["name=rootless"] }),
      {},
      { code: "docker_missing", message: containing("rootless") },
    ],
    [
      "is elsewhere",
      () => {},
      { DOCKER_HOST: "ssh://far" },
      { code: "docker_missing", where: "DOCKER_HOST" },
    ],
    [
      "is not there",
      () => {},
      { PATH: "/nowhere" },
      { code: "docker_missing", message: containing("no `docker`") },
    ],
    ["says something else", (docker) => docker.setInfo({ Runtimes: 5 }), {}, { code: "docker_missing" }],
  ])("is refused with the remedy where it %s", async (_, prepare, environment, error) => {
    const docker = fakeDocker(folder());
    prepare(docker);
    await expect(check({ PATH: `${docker.bin}:/bin`, ...environment })).rejects.toMatchObject(error);
  });
});
