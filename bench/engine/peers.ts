import { existsSync } from "node:fs";
import { join } from "node:path";
import { exec, lastJson } from "../figures.ts";

const peers = join(import.meta.dirname, "../peers");
const cache = join(import.meta.dirname, "../../.cache");

export interface TorchStep {
  version: string;
  eagerMs: number;
  compileMs: number | null;
}

export interface LlamaCppDecode {
  decode: Record<string, number>;
  ttft512Ms: number;
  version: string;
}

/**
 * A Python with PyTorch 2 or newer: the one of `SPOTTER_BENCH_PYTHON`, else PyTorch from pip in a folder of
 * its own. Undefined, with the reason in `notes`, where it cannot be had.
 */
export async function currentTorch(
  log: (line: string) => void,
  notes: string[],
): Promise<string | undefined> {
  const venv = join(cache, "torch");
  const python = join(venv, "bin/python");
  for (const command of [process.env["SPOTTER_BENCH_PYTHON"], python]) {
    if (command !== undefined && existsSync(command) && (await torchVersion(command))) return command;
  }
  log("installing PyTorch with pip (about 3 GB, once)");
  let last = await exec("python3", ["-m", "venv", venv]);
  if (last.code === 0) {
    last = await exec(join(venv, "bin/pip"), ["install", "-q", "torch", "numpy"], { timeoutMs: 1_800_000 });
  }
  if (last.code === 0 && (await torchVersion(python))) return python;
  notes.push(`PyTorch from pip: ${last.stderr.trim().split("\n").at(-1) ?? "failed"}`);
  return undefined;
}

/**
 * Debian's Python with its python3-torch (1.13), and OpenBLAS: without it Debian's torch multiplies with the
 * reference BLAS, some fifty times slower, and nothing is measured. apt installs what is missing.
 */
export async function debianTorch(log: (line: string) => void, notes: string[]): Promise<string | undefined> {
  const python = "/usr/bin/python3";
  const packages = ["python3-torch", "libopenblas0-pthread"];
  const isThere = async (): Promise<boolean> =>
    (await exec("dpkg", ["-s", ...packages])).code === 0 && (await torchVersion(python)) !== undefined;
  if (await isThere()) return python;
  log(`installing ${packages.join(" and ")} with apt (once)`);
  const install = await exec("apt-get", ["install", "-y", "-q", ...packages], { timeoutMs: 1_200_000 });
  if (install.code === 0 && (await isThere())) return python;
  notes.push(`PyTorch from apt: ${install.stderr.trim().split("\n").at(-1) ?? "failed"}`);
  return undefined;
}

/**
 * `compile`: also through torch.compile, which PyTorch has from 2.0 on. Undefined, with the reason in
 * `notes`, where the peer fails or takes longer than five minutes.
 */
export async function torchStep(
  python: string,
  args: readonly string[],
  compile: boolean,
  notes: string[],
): Promise<TorchStep | undefined> {
  const script = join(peers, "torch/lora_step.py");
  const result = await exec(python, [script, ...args, ...(compile ? ["--compile"] : [])], {
    timeoutMs: 300_000,
    // Debian's OpenBLAS is told its core type on some machines; a current PyTorch brings its own library.
    env: compile ? withoutOpenBlas() : process.env,
  });
  if (result.code === 0) return lastJson<TorchStep>(result.stdout);
  const why = result.stderr.trim().split("\n").at(-1) || "not done within five minutes";
  notes.push(`${python}: ${why}`);
  return undefined;
}

/** Installs the peer where it is missing; undefined, with the reason in `notes`, where that fails. */
export async function llamaCppDecode(
  log: (line: string) => void,
  notes: string[],
  args: readonly string[],
): Promise<LlamaCppDecode | undefined> {
  const cwd = join(peers, "llama-cpp");
  if (!existsSync(join(cwd, "node_modules"))) {
    log("installing node-llama-cpp (once)");
    const install = await exec("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd });
    if (install.code !== 0) {
      notes.push(`node-llama-cpp: ${install.stderr.trim().split("\n").at(-1) ?? "npm ci failed"}`);
      return undefined;
    }
  }
  const result = await exec(process.execPath, [join(cwd, "decode.mjs"), ...args], {
    cwd,
    timeoutMs: 1_200_000,
  });
  if (result.code !== 0) {
    notes.push(`node-llama-cpp: ${result.stderr.trim().split("\n").at(-1) ?? "failed"}`);
    return undefined;
  }
  return lastJson<LlamaCppDecode>(result.stdout);
}

async function torchVersion(python: string): Promise<string | undefined> {
  const result = await exec(python, ["-c", "import torch; print(torch.__version__)"], { timeoutMs: 120_000 });
  return result.code === 0 ? result.stdout.trim() : undefined;
}

function withoutOpenBlas(): NodeJS.ProcessEnv {
  const { OPENBLAS_CORETYPE: _core, OPENBLAS_L2_SIZE: _size, ...env } = process.env;
  return env;
}
