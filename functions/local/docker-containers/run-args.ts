import { createHash } from "node:crypto";
import type { ContainerRecord } from "../local-containers/record.ts";

/** Labels on everything that is started: what is whose can be asked of Docker alone. */
export const LABEL = {
  home: "spotter.home",
  job: "spotter.job",
  kind: "spotter.kind",
  engine: "spotter.engine",
} as const;

/** Places inside a container. */
export const PLACES = { agent: "/spotter/agent", work: "/spotter/work" } as const;

const HASH_LENGTH = 12;
/** What vLLM's and slime's own instructions give their containers. */
const ENGINE_FLAGS = ["--ipc", "host", "--ulimit", "memlock=-1", "--ulimit", "stack=67108864"];
/** Docker keeps this much of what a container writes. */
const LOG_FLAGS = ["--log-driver", "local", "--log-opt", "max-size=10m", "--log-opt", "max-file=2"];

/** Which GPUs containers see, as `docker run --gpus` takes it; null: none. */
export type Gpus = string | null;

export interface RunParams {
  home: string;
  record: Pick<ContainerRecord, "jobId" | "kind" | "engine">;
  image: string;
  gpus: Gpus;
  /** The folder of the agent on this machine. */
  agentDir: string;
  /** Folders of this machine that it reads under the same name. */
  folders: readonly string[];
  /** Name=value lines, readable by us alone: what is in an argument everybody can read in the list of processes. */
  environmentFile: string;
  command: readonly string[];
}

/** One state folder's own mark in Docker, which all of a machine share. */
export function homeLabel(home: string): string {
  return createHash("sha256").update(home).digest("hex").slice(0, HASH_LENGTH);
}

/** The one name of a job's container: a second one cannot come to be. Docker takes no `:` and `@` in names. */
export function nameOf(home: string, jobId: string): string {
  const escaped = jobId.replaceAll(
    /[^A-Za-z0-9.-]/g,
    (character) => `_${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return `spotter-${homeLabel(home)}-${escaped}`;
}

/** The one container of a home that makes an image, while it does. No job has this name. */
export function overlayName(home: string): string {
  return `spotter-overlay-${homeLabel(home)}`;
}

/** `docker run …` of a job's container. */
export function runArgs(params: RunParams): string[] {
  const { home, record, image, gpus, agentDir, folders, environmentFile, command } = params;
  const { jobId, kind, engine } = record;
  const [program = "", ...words] = command;
  return [
    ...["run", "--detach", "--init", "--pull", "never", "--name", nameOf(home, jobId)],
    ...labels({ home: homeLabel(home), job: jobId, kind, ...(engine && { engine }) }),
    ...placeFlags(gpus),
    ...ENGINE_FLAGS,
    ...LOG_FLAGS,
    // The image's own user may write nothing of this machine: its work is in a volume that goes with it.
    ...readOnly(agentDir, PLACES.agent),
    ...folders.flatMap((folder) => readOnly(folder, folder)),
    ...["--mount", csv(["type=volume", `target=${PLACES.work}`]), "--workdir", PLACES.work],
    ...["--env-file", environmentFile, "--entrypoint", program, image, ...words],
  ];
}

/** Where a container runs: in this machine's network, where the control plane listens, with its GPUs. */
export function placeFlags(gpus: Gpus): string[] {
  return ["--network", "host", ...(gpus === null ? [] : ["--gpus", gpus])];
}

export function labels(values: Partial<Record<keyof typeof LABEL, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [
    "--label",
    `${LABEL[name as keyof typeof LABEL]}=${value}`,
  ]);
}

function readOnly(source: string, target: string): string[] {
  return ["--mount", csv(["type=bind", `source=${source}`, `target=${target}`, "readonly"])];
}

/** The value of `--mount` is a line of CSV: paths may hold commas and quotes. */
function csv(fields: readonly string[]): string {
  return fields.map(csvField).join(",");
}

function csvField(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
