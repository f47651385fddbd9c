import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JobSpec } from "../../../../sdk/schema/job.ts";
import { runSpec } from "../../../../sdk/schema/run-spec.ts";
import { startFakeControlPlane, type FakeControlPlane } from "../../fake-control-plane.ts";

const PYTHON_DIR = fileURLToPath(new URL("../../../../engine/python", import.meta.url));
const ENGINES = fileURLToPath(new URL("../../../fixtures/engines", import.meta.url));

/** What a stand-in engine does wrong, and when. */
export interface Behaviour {
  failAt?: number;
  how?: string;
  secondsAStep?: number;
  secondsToSave?: number;
  secondsToLoad?: number;
  dieAfter?: number;
  conversionDies?: number;
  conversionFails?: string;
  secondsToConvert?: number;
  megabytes?: number;
  flushesEvents?: "each" | "end";
  tearsEvents?: boolean;
}

export interface AgentRun {
  plane: FakeControlPlane;
  workDir: string;
  agent: ChildProcess;
  stderr: () => string;
  /** Resolves to its exit code. */
  ended: Promise<number | null>;
  /** Events of one type, as far as they came. */
  told(type: string): Record<string, unknown>[];
  exit(): Record<string, unknown> | undefined;
}

export interface AgentOptions {
  behaviour?: Behaviour;
  job?: Record<string, unknown>;
  native?: Record<string, unknown>;
  env?: Record<string, string>;
  options?: Record<string, unknown>;
  before?: (plane: FakeControlPlane) => void;
}

export type OnEnd = (end: () => Promise<void>) => void;

/** The agent as a container runs it, over a control plane that can be made to misbehave. */
export async function startAgent(
  onEnd: OnEnd,
  make: (plane: FakeControlPlane) => Record<string, unknown>,
  { behaviour = {}, job = {}, native = {}, env = {}, options = {}, before }: AgentOptions = {},
): Promise<AgentRun> {
  const workDir = await mkdtemp(join(tmpdir(), "spotter-python-agent-"));
  const plane = await startFakeControlPlane(workDir);
  const base = { protocol: 1, id: "job-1", attempt: 1, heartbeatEveryMs: 200, threads: 1 };
  const made = make(plane);
  const planned = made["native"] as { env?: object };
  const plan = { ...planned, ...native, env: { ...planned.env, ...(native["env"] as object | undefined) } };
  plane.job = { ...base, ...made, ...job, native: plan } as unknown as JobSpec;
  before?.(plane);
  // A host of its own, as far as image overlays go.
  const own = { address: "127.0.0.1", overlay_marks_dir: join(workDir, "marks") };
  const settings = { poll_s: 0.05, speed: 50, grace_s: 5, ...own, ...options };
  const agent = spawn("python3", ["-m", "spotter_agent"], {
    cwd: workDir,
    env: {
      PATH: process.env["PATH"],
      PYTHONPATH: PYTHON_DIR,
      PYTHONDONTWRITEBYTECODE: "1",
      ...plane.env,
      SPOTTER_AGENT_OPTIONS: JSON.stringify(settings),
      STAND_IN: JSON.stringify(behaviour),
      ...env,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  agent.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(agent, "exit").then(([code]) => code as number | null);
  onEnd(async () => {
    agent.kill("SIGKILL");
    await ended;
    await plane[Symbol.asyncDispose]();
    await rm(workDir, { recursive: true, force: true, maxRetries: 3 });
  });
  const told = (type: string) =>
    plane.events.filter((event) => event.type === type) as unknown as Record<string, unknown>[];
  return { plane, workDir, agent, stderr: () => stderr, ended, told, exit: () => told("exit").at(-1) };
}

/** A training of `steps` steps with the stand-in for slime, saving every second one. */
export function slimeJob(plane: FakeControlPlane, steps = 4): Record<string, unknown> {
  const rows = ["a", "b", "c"]
    .map((content) => JSON.stringify({ prompt: [{ role: "user", content }], completion: "x", row: {} }))
    .join("\n");
  const spec = runSpec.parse({
    kind: "sft",
    model: { name: "made/model" },
    dataset: { sha256: "0".repeat(64), rows: 3 },
    algorithm: { kind: "sft" },
    trainer: { steps },
  });
  return {
    kind: "train",
    runId: "run-1",
    spec,
    modelFiles: [
      plane.addFile("config.json", "{}"),
      plane.addFile("model.safetensors", "weights of the base"),
    ],
    dataset: plane.addFile("train.jsonl", rows),
    native: {
      engine: "slime",
      files: [{ path: "config/custom.yaml", content: "dataset: {{spotter.dataset}}\n" }],
      env: { TOLD_MODEL: "{{spotter.modelDir}}", PYTHONPATH: `${PYTHON_DIR}:${join(ENGINES, "stubs")}` },
      argv: [
        ...["python3", "-m", "spotter_slime.launch", join(ENGINES, "slime.py")],
        ...[
          "--num-rollout",
          String(steps),
          "--save-interval",
          "2",
          "--prompt-data",
          "{{spotter.slimeDataset}}",
        ],
        ...[
          "--save",
          "{{spotter.saveDir}}",
          "--load",
          "{{spotter.saveDir}}",
          "--ref-load",
          "{{spotter.weightsDir}}",
        ],
        ...["--save-hf", "{{spotter.saveDir}}/hf/{rollout_id}"],
      ],
    },
  };
}

export function vllmJob(plane: FakeControlPlane): Record<string, unknown> {
  return {
    kind: "serve",
    endpoint: "base",
    accessKey: "key-of-the-replica",
    model: { name: "made/model" },
    modelFiles: [plane.addFile("config.json", "{}")],
    native: {
      engine: "vllm",
      env: { VLLM_API_KEY: "{{spotter.accessKey}}" },
      argv: [
        "python3",
        join(ENGINES, "vllm.py"),
        "--served-model-name",
        "base",
        "--port",
        "{{spotter.port}}",
      ],
    },
  };
}
