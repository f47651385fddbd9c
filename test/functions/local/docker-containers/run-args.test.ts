import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { environmentText } from "../../../../functions/local/docker-containers/environment-file.ts";
import { DockerError } from "../../../../functions/local/docker-containers/docker-cli.ts";
import { endReason } from "../../../../functions/local/docker-containers/end-reason.ts";
import { launchFailure } from "../../../../functions/local/docker-containers/failures.ts";
import { nameOf, runArgs } from "../../../../functions/local/docker-containers/run-args.ts";

const options = JSON.parse(
  readFileSync(new URL("../../../fakes/docker/options.json", import.meta.url), "utf8"),
) as { commands: { run: Record<string, { takesValue: boolean }> } };

const args = (agentDir = "/opt/spotter/engine/python") =>
  runArgs({
    home: "/home/me/.spotter/containers",
    record: { jobId: "run-1:2", kind: "train", engine: "slime" },
    image: "slimerl/slime:v1",
    gpus: "all",
    agentDir,
    folders: ["/data/my model"],
    environmentFile: "/home/me/.spotter/run-1.env",
    command: ["python3", "-m", "spotter_agent"],
  });

describe("the command of a container", () => {
  it("is this", () => {
    expect(args().join(" ")).toBe(
      "run --detach --init --pull never --name spotter-5690527fc352-run-1_3a2 --label spotter.home=5690527fc352 " +
        "--label spotter.job=run-1:2 --label spotter.kind=train --label spotter.engine=slime --network host " +
        "--gpus all --ipc host --ulimit memlock=-1 --ulimit stack=67108864 --log-driver local " +
        "--log-opt max-size=10m --log-opt max-file=2 " +
        "--mount type=bind,source=/opt/spotter/engine/python,target=/spotter/agent,readonly " +
        "--mount type=bind,source=/data/my model,target=/data/my model,readonly " +
        "--mount type=volume,target=/spotter/work --workdir /spotter/work --env-file /home/me/.spotter/run-1.env " +
        "--entrypoint python3 slimerl/slime:v1 -m spotter_agent",
    );
  });

  it("has options that docker has, each with its value", () => {
    const words = args().slice(1, args().indexOf("slimerl/slime:v1"));
    while (words.length > 0) {
      const name = words.shift() ?? "";
      const option = options.commands.run[name];
      expect(option, name).toBeDefined();
      if (option?.takesValue === true) words.shift();
    }
  });

  it("takes a folder with any name", () => {
    expect(args('/a,"b"')).toContain('type=bind,"source=/a,""b""",target=/spotter/agent,readonly');
  });

  it("has a name of its own for each job of each home", () => {
    const names = ["a:b", "a@b", "a_b", "a_3ab", "a-b"].flatMap((job) => [
      nameOf("/1", job),
      nameOf("/2", job),
    ]);
    expect(new Set(names).size).toBe(10);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/);
  });
});

it("refuses variables that a file of lines could not hold", () => {
  expect(environmentText({ A: "1 = #2", B: "" })).toBe("A=1 = #2\nB=\n");
  for (const [name, value] of [
    ["A", "1\n2"],
    ["A", "1\r"],
    ["A B", ""],
    ["#A", ""],
    ["A=B", ""],
  ] as const) {
    expect(() => environmentText({ [name]: value }), name).toThrow(JSON.stringify(name));
  }
});

describe("what Docker says of a container that it cannot start", () => {
  it.each([
    [
      'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
      "gpu_missing",
    ],
    [
      "docker: Error response from daemon: failed to create task: nvidia-container-cli: initialization error: nvml error: driver not loaded",
      "gpu_missing",
    ],
    [
      "Error response from daemon: pull access denied for x, repository does not exist or may require 'docker login'",
      "image_unavailable",
    ],
    [
      "Error response from daemon: manifest for x:2 not found: manifest unknown: manifest unknown",
      "image_unavailable",
    ],
    [
      "docker: Error response from daemon: No such image: x:1\n\nRun 'docker run --help' for more information",
      "image_unavailable",
    ],
    ["docker: invalid reference format", "image_unavailable"],
    ["failed to register layer: write /usr/lib/x: no space left on device", "disk_full"],
    ["docker: Error response from daemon: something new", "container_failed"],
  ])("%s", (words, code) => {
    const failure = launchFailure(new DockerError("run", 125, words), "x:1");
    expect(failure).toMatchObject({ code, message: expect.stringContaining("x:1: ") as string });
    expect(failure.message).not.toContain("--help");
  });
});

it.each([
  [{ exitCode: 0 }, false, "done"],
  [{ exitCode: 137 }, false, "error"],
  [{ exitCode: 137, isOutOfMemory: true }, false, "oom"],
  [{ exitCode: 137, isOutOfMemory: true }, true, "user"],
  // Docker says so of a container that lost a child and went on to a good end.
  [{ exitCode: 0, isOutOfMemory: true }, false, "done"],
  [{ exitCode: null }, false, "error"],
  [{ exitCode: null, failure: { code: "image_unavailable", message: "" } }, false, "image"],
] as const)("an end of %j, asked %s, means %s", (end, asked, reason) => {
  expect(endReason(end, asked)).toBe(reason);
});
