import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ForeignEngine } from "../ports/containers.ts";
import { isOnPath } from "./on-path.ts";

/** The agent's folder; the same from source and from the build. */
export const AGENT_DIR = fileURLToPath(new URL("../../engine/python/", import.meta.url));
/** What engines and their GPUs read from the machine, besides what every container may. */
const PASSED_ON = /^(CUDA_|NVIDIA_|NCCL_|LD_LIBRARY_PATH$|HF_TOKEN$|SPOTTER_ENGINE_PYTHON$|STAND_IN)/;

/** Engines of other makers on this machine, by what its owner said in variables; see docs/engines.md. */
export interface ForeignEngines {
  /** Those that are there now. */
  offered(): ForeignEngine[];
  /** How one is given that is not there. */
  remedy(engine: ForeignEngine): string;
  /** Names of a run's variables that its container could not be given. */
  cannotGive(env: Readonly<Record<string, string>>): string[];
  agent: { command: readonly string[]; environment: Record<string, string> };
}

/**
 * `SPOTTER_SLIME_DIR` is the folder of slime's train.py; vLLM is there where its command is on the PATH. Both need a
 * `python3` for the agent.
 */
export function foreignEngines(environment: NodeJS.ProcessEnv): ForeignEngines {
  const { PATH, SPOTTER_SLIME_DIR: slimeDir } = environment;
  const passedOn = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && PASSED_ON.test(name) ? [[name, value] as const] : [],
  );
  const hasSlime = () => slimeDir !== undefined && existsSync(join(slimeDir, "train.py"));
  return {
    offered: () => {
      if (!isOnPath("python3", PATH)) return [];
      return [
        ...(hasSlime() ? (["slime"] as const) : []),
        ...(isOnPath("vllm", PATH) ? (["vllm"] as const) : []),
      ];
    },
    remedy: (engine) =>
      `\`spotter up --gpu --${engine}-image IMAGE\` runs it in Docker. Without Docker, ${REMEDIES[engine]} before the daemon starts.`,
    cannotGive: (env) => Object.keys(env).filter((name) => env[name]?.includes("\0")),
    agent: {
      command: ["python3", "-m", "spotter_agent"],
      environment: {
        ...Object.fromEntries(passedOn),
        PYTHONPATH: AGENT_DIR,
        PYTHONDONTWRITEBYTECODE: "1",
        SPOTTER_AGENT_OPTIONS: agentOptions(environment),
        ...(slimeDir === undefined ? {} : { SPOTTER_ENGINE_DIR: slimeDir }),
      },
    },
  };
}

const REMEDIES: Record<ForeignEngine, string> = {
  slime: "set SPOTTER_SLIME_DIR to the folder of its train.py",
  vllm: "put its `vllm` on the PATH",
};

/** A replica on this machine is reached by this machine alone, unless its owner says otherwise. */
export function agentOptions(environment: NodeJS.ProcessEnv): string {
  return environment["SPOTTER_AGENT_OPTIONS"] ?? JSON.stringify({ host: "127.0.0.1", address: "127.0.0.1" });
}
