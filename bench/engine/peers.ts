import { existsSync } from "node:fs";
import { join } from "node:path";
import { exec, lastJson, type Finished } from "../figures.ts";

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

export interface PythonWithTorch {
  command: string;
  /** PyTorch 2 and later have torch.compile. */
  compiles: boolean;
}

/**
 * A Python that has PyTorch: the one of `SPOTTER_BENCH_PYTHON`, else PyTorch from pip in a folder of its own,
 * else Debian's python3-torch. Undefined, with the reasons in `notes`, where none can be had.
 */
export async function pythonWithTorch(
  log: (line: string) => void,
  notes: string[],
): Promise<PythonWithTorch | undefined> {
  const venv = join(cache, "torch");
  const candidates = [process.env["SPOTTER_BENCH_PYTHON"], join(venv, "bin/python")].filter(
    (path) => path !== undefined,
  );
  for (const command of candidates) {
    if (existsSync(command) && (await torchVersion(command))) return found(command);
  }
  log("installing PyTorch with pip (about 3 GB, once)");
  const steps: [string, string[]][] = [
    ["python3", ["-m", "venv", venv]],
    [join(venv, "bin/pip"), ["install", "-q", "torch", "numpy"]],
  ];
  let last: Finished | undefined;
  for (const [command, args] of steps) {
    last = await exec(command, args, { timeoutMs: 1_800_000 });
    if (last.code !== 0) break;
  }
  if (last?.code === 0) return found(join(venv, "bin/python"));
  notes.push(`PyTorch from pip: ${(last?.stderr ?? "").trim().split("\n").at(-1) ?? "failed"}`);
  if (!(await torchVersion("/usr/bin/python3"))) {
    await exec("apt-get", ["install", "-y", "-q", "python3-torch"], { timeoutMs: 1_200_000 });
  }
  if (await torchVersion("/usr/bin/python3")) return found("/usr/bin/python3");
  notes.push("PyTorch from apt: python3-torch could not be installed");
  return undefined;
}

export async function torchStep(python: PythonWithTorch, args: readonly string[]): Promise<TorchStep> {
  const script = join(peers, "torch/lora_step.py");
  const result = await exec(python.command, [script, ...args, ...(python.compiles ? ["--compile"] : [])], {
    timeoutMs: 1_200_000,
    // Debian's OpenBLAS is told its core type on some machines; a current PyTorch brings its own library.
    env: python.compiles ? withoutOpenBlas() : process.env,
  });
  if (result.code !== 0) throw new Error(`The PyTorch peer failed:\n${result.stderr}`);
  return lastJson<TorchStep>(result.stdout);
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

async function found(command: string): Promise<PythonWithTorch> {
  const version = (await torchVersion(command)) ?? "0";
  return { command, compiles: Number(version.split(".")[0]) >= 2 };
}

function withoutOpenBlas(): NodeJS.ProcessEnv {
  const { OPENBLAS_CORETYPE: _core, OPENBLAS_L2_SIZE: _size, ...env } = process.env;
  return env;
}
