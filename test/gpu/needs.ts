import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isOnPath } from "../../functions/local/on-path.ts";
import type { ForeignEngine } from "../../functions/ports/containers.ts";

type Environment = Record<string, string | undefined>;

export interface Needs {
  /** Images to give to `spotter up --gpu`; none: engines are processes of this machine. */
  images: Partial<Record<ForeignEngine, string>>;
  /** Why an engine cannot be tested here. */
  missing: Partial<Record<ForeignEngine, string>>;
}

/** What the tests on a GPU find. `gpus`: the lines of `nvidia-smi -L`. */
export function needsOf(environment: Environment, gpus: readonly string[]): Needs {
  const { SPOTTER_VLLM_IMAGE: vllm, SPOTTER_SLIME_IMAGE: slime, SPOTTER_SLIME_DIR: dir, PATH } = environment;
  const images = { ...(vllm && { vllm }), ...(slime && { slime }) };
  if (gpus.length === 0) {
    const reason = "there is no NVIDIA GPU: `nvidia-smi -L` lists none";
    return { images, missing: { vllm: reason, slime: reason } };
  }
  const hasImages = Object.keys(images).length > 0;
  const hasVllm = hasImages ? vllm : isOnPath("vllm", PATH);
  const hasSlime = hasImages ? slime : dir !== undefined && existsSync(join(dir, "train.py"));
  return {
    images,
    missing: {
      ...(!hasVllm && {
        vllm: "there is no vLLM: SPOTTER_VLLM_IMAGE names none, and none is on the PATH",
      }),
      ...(!hasSlime && {
        slime: "there is no slime: neither SPOTTER_SLIME_IMAGE nor SPOTTER_SLIME_DIR names one",
      }),
    },
  };
}

/** The GPUs of this machine, one line each. */
export function listGpus(): string[] {
  const { status, stdout } = spawnSync("nvidia-smi", ["-L"], { encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter((line) => line.startsWith("GPU ")) : [];
}
