import * as z from "zod/mini";
import type { ContainerRecord } from "../local-containers/record.ts";
import type { DockerCli } from "./docker-cli.ts";
import { isUnknown } from "./failures.ts";
import { homeLabel, LABEL } from "./run-args.ts";

const containerState = z.object({
  /** created, running, paused, restarting, removing, exited, dead */
  Status: z.string(),
  OOMKilled: z.boolean(),
  ExitCode: z.number(),
});

export interface Seen {
  isRunning: boolean;
  /** Made, but never started. */
  isUnborn: boolean;
  isOutOfMemory: boolean;
  exitCode: number;
}

/** A container as Docker sees it; undefined where there is none of that name. */
export async function look(docker: DockerCli, name: string): Promise<Seen | undefined> {
  let text: string;
  try {
    text = await docker.call(["inspect", "--type", "container", "--format", "{{json .State}}", name]);
  } catch (error) {
    if (isUnknown(error)) return undefined;
    throw error;
  }
  const { Status, OOMKilled, ExitCode } = containerState.parse(JSON.parse(text));
  return {
    isRunning: Status === "running" || Status === "paused" || Status === "restarting",
    isUnborn: Status === "created",
    isOutOfMemory: OOMKilled,
    exitCode: ExitCode,
  };
}

const LIST_FORMAT = ["name", ...Object.values(LABEL)]
  .map((field) => (field === "name" ? "{{.Names}}" : `{{.Label "${field}"}}`))
  .join("\t");

export interface Listed {
  name: string;
  jobId: string;
  kind: ContainerRecord["kind"];
  engine: ContainerRecord["engine"];
}

/** Everything of one state folder that is in Docker, whether it runs or not. */
export async function listOf(docker: DockerCli, home: string): Promise<Listed[]> {
  const filter = `label=${LABEL.home}=${homeLabel(home)}`;
  const text = await docker.call(["ps", "--all", "--no-trunc", "--filter", filter, "--format", LIST_FORMAT]);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [name = "", _home, jobId = "", kind = "", engine = ""] = line.split("\t");
      return {
        name,
        jobId,
        kind: kind === "serve" || kind === "eval" || kind === "convert" ? kind : "train",
        engine: engine === "vllm" || engine === "slime" ? engine : undefined,
      };
    });
}
