import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { containerEnvironment } from "../../../functions/local/container-environment.ts";
import type { ContainerExit, ContainerRun, StartContainer } from "../../fakes/aws/index.ts";

/** The embedded engine as AWS's container: the same program, started where a task or a job is RUNNING. */
export const startEngine: StartContainer = (_definition, run) => {
  const folder = mkdtempSync(join(tmpdir(), "spotter-aws-container-"));
  const child = spawn(process.execPath, [fileURLToPath(program(run))], {
    cwd: folder,
    env: { ...containerEnvironment(process.env, folder), ...run.environment, SPOTTER_WORK_DIR: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => run.log(line));
  const exited = new Promise<ContainerExit>((resolve) => {
    child.once("close", (exitCode, signal) => {
      rmSync(folder, { recursive: true, force: true });
      resolve({ exitCode, signal });
    });
  });
  return {
    ...(child.pid === undefined ? {} : { pid: child.pid }),
    exited,
    stop: (signal) => void child.kill(signal),
  };
};

/** The id of a job tells what it does; on AWS each kind has a definition with its own command. */
function program({ environment }: ContainerRun): URL {
  const kind = /^(serve|train|eval)-/.exec(environment["SPOTTER_JOB_ID"] ?? "")?.[1];
  if (kind === undefined) throw new Error(`No program for ${environment["SPOTTER_JOB_ID"]}`);
  return new URL(`../../../engine/${kind}.ts`, import.meta.url);
}
