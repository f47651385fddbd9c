import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { DockerCli } from "../../../../functions/local/docker-containers/docker-cli.ts";
import { look } from "../../../../functions/local/docker-containers/inspect.ts";

/** A `docker` that never answers. */
function hanging(answerMs: number): DockerCli {
  const folder = mkdtempSync(join(tmpdir(), "spotter-docker-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const program = join(folder, "docker");
  writeFileSync(program, "#!/bin/sh\nexec sleep 1000\n");
  chmodSync(program, 0o755);
  return new DockerCli({ program, environment: process.env, answerMs });
}

describe("a docker that hangs", () => {
  it("is not waited for where it has to answer at once", async () => {
    const docker = hanging(50);
    await expect(look(docker, "x")).rejects.toMatchObject({ code: "timeout" });
    await expect(docker.call(["kill", "x"])).rejects.toThrow("docker kill took longer than 50 ms.");
    await expect(docker.lines(["logs", "x"])).rejects.toThrow();
  });

  it("is waited for where it waits itself, until somebody says otherwise", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("enough")), 200);
    await expect(hanging(50).call(["wait", "x"], { signal: stop.signal })).rejects.toThrow("enough");
  });
});
