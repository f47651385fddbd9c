import { spawn } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "../../sdk/fake-server.ts";
import { SLIME_OPTIONS } from "../../../sdk/schema/engines/slime-plan.ts";
import { VLLM_OPTIONS } from "../../../sdk/schema/engines/vllm-plan.ts";
import type { ContainerExit, StartContainer } from "../../fakes/aws/index.ts";

const ENGINES = fileURLToPath(new URL("../../fixtures/engines/", import.meta.url));

/** What the upstream images have, as far as our command and the agent use it. */
export interface ImageFolder {
  folder: string;
  bin: string;
  slimeDir: string;
  /** Of the agent: real hosts wait longer, and have addresses and ports of their own. */
  options: Record<string, unknown>;
}

/** Makes it below `folder`: slime's train.py with what it imports, its converters, the commands `vllm` and `ray`, and `setpriv`. */
export async function imageFolder(folder: string): Promise<ImageFolder> {
  const [bin, slimeDir] = [join(folder, "bin"), join(folder, "slime")];
  for (const each of [bin, slimeDir]) mkdirSync(each);
  copyFileSync(join(ENGINES, "slime.py"), join(slimeDir, "train.py"));
  cpSync(join(ENGINES, "stubs", "slime"), join(slimeDir, "slime"), { recursive: true });
  cpSync(join(ENGINES, "tools"), join(slimeDir, "tools"), { recursive: true });
  for (const [engine, { options }] of Object.entries({ slime: SLIME_OPTIONS, vllm: VLLM_OPTIONS }))
    writeFileSync(join(slimeDir, `${engine}.json`), JSON.stringify(Object.keys(options)));
  const command = (name: string, script: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  for (const name of ["vllm", "ray"]) command(name, `exec python3 ${join(ENGINES, `${name}.py`)} "$@"`);
  // Who runs tests may have no right to give any up; test/infra/bootstrap-python.test.ts takes the real one.
  command("setpriv", 'while case "$1" in --*) true ;; *) false ;; esac; do shift; done\nexec "$@"');
  const [nodesPort, rayPort] = [await freePort(), await freePort()];
  const options = { ...TIMES, ...LOOPBACK, nodes_port: nodesPort, ray_port: rayPort };
  return { folder, bin, slimeDir, options };
}

/** Runs what a definition says, where a task or a job is RUNNING, with what the image has on its PATH. */
export function startInImage({ bin, slimeDir, folder: ofTest, options }: ImageFolder): StartContainer {
  return (definition, run) => {
    const folder = mkdtempSync(join(tmpdir(), "spotter-gpu-container-"));
    const entry = "entryPoint" in definition ? (definition.entryPoint ?? []) : [];
    const [program = "", ...words] = [...entry, ...run.command];
    // Nodes of one job, and of no other attempt.
    const [jobId = ""] = (run.environment["AWS_BATCH_JOB_ID"] ?? "").split("#");
    const cluster = join(ofTest, "clusters", jobId);
    mkdirSync(cluster, { recursive: true });
    const child = spawn(program, words, {
      cwd: folder,
      env: {
        PATH: `${bin}:${process.env["PATH"]}`,
        TMPDIR: folder,
        SPOTTER_ENGINE_DIR: slimeDir,
        // A container's own disk, where nothing has been changed yet.
        SPOTTER_AGENT_OPTIONS: JSON.stringify({ ...options, overlay_marks_dir: join(folder, "marks") }),
        STAND_IN_OPTIONS: join(slimeDir, "slime.json"),
        STAND_IN_VLLM_OPTIONS: join(slimeDir, "vllm.json"),
        ...("AWS_BATCH_JOB_NUM_NODES" in run.environment && { STAND_IN_CLUSTER: cluster }),
        ...run.environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (line) => run.log(line));
    const exited = new Promise<ContainerExit>((resolve) => {
      child.once("error", (error) => run.log(String(error)));
      child.once("close", (exitCode, signal) => {
        rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
        resolve({ exitCode, signal });
      });
    });
    return {
      ...(child.pid !== undefined && { pid: child.pid }),
      exited,
      stop: (signal) => void child.kill(signal),
    };
  };
}

const TIMES = { poll_s: 0.1, grace_s: 5, nodes_beat_s: 0.1 };
const LOOPBACK = { host: "127.0.0.1", address: "127.0.0.1" };
