/**
 * How fast a project folder is validated: generated files of a gigabyte on one core, with the memory they take,
 * against the same checks through pydantic, and the wall time of the command on a small project.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exec, type Finished, lastJson, type FigureRow, median, type Figures } from "./figures.ts";
import { type Writer, writeRows } from "./validate/rows.ts";

const root = join(import.meta.dirname, "..");
const GIBIBYTE = 1024 ** 3;
/** Python is slow enough to be measured on less. */
const PYTHON_BYTES = 64 * 1024 ** 2;
const ROUNDS = 9;
const CONFIG = `dataset_type: rl
data: { batch_size: 16, group_size: 8 }
model: { path: Qwen/Qwen3-8B }
trainer: { num_epochs: 1 }
`;
const REWARDS = `import { reward } from "spotter";
export const accuracy = reward(({ response, metadata }) => (response.content.includes(String(metadata.expected_answer)) ? 1 : 0));
export const brevity = reward({ weight: 0.1 }, ({ response }) => (response.content.length < 2000 ? 1 : 0));
`;

interface Measured {
  ok: boolean;
  rows: number;
  ms: number;
  cpuMs: number;
  rssMiB: number;
}

export async function run(log: (line: string) => void): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), "spotter-bench-validate-"));
  const notes: string[] = [];
  try {
    writeFileSync(join(folder, "config.yml"), CONFIG);
    writeFileSync(join(folder, "rewards.ts"), REWARDS);
    const python = await pydanticPython(notes);
    const plain = await rowsOf("javascript", folder, python, notes, log);
    const escaped = await rowsOf("python", folder, python, notes, log);
    return {
      ...plain,
      rssMiB: Math.max(plain.rssMiB, escaped.rssMiB),
      rows: [plain, escaped],
      smallProjectMs: await smallProject(log),
      notes,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What is measured on rows of one writer. */
interface RowFigures extends FigureRow {
  writer: Writer;
  mibPerS: number;
  /** What a second of the processor does: the same on a busy machine. */
  mibPerCpuS: number;
  rssMiB: number;
  vsPydantic: number | null;
  vsPydanticCpu: number | null;
  pydanticMibPerS: number | null;
}

async function rowsOf(
  writer: Writer,
  folder: string,
  python: string | null,
  notes: string[],
  log: (line: string) => void,
): Promise<RowFigures> {
  const file = join(folder, "train.jsonl");
  const bytes = writeRows(file, GIBIBYTE, writer);
  log(`wrote ${(bytes / 1024 ** 2).toFixed(0)} MiB of rows as ${writer} does`);
  const one = await onOneCore(process.execPath, [join(root, "bench/validate/measure.ts"), folder], notes);
  const { ok, rows, ms, cpuMs, rssMiB } = measured(one);
  if (!ok) throw new Error("The generated rows are not valid.");
  const mibPerS = rate(bytes, ms);
  const mibPerCpuS = rate(bytes, cpuMs);
  log(`${rows} rows at ${mibPerS.toFixed(0)} MiB/s in ${rssMiB.toFixed(0)} MiB`);
  const smaller = writeRows(file, PYTHON_BYTES, writer);
  const peer = python === null ? null : await withPydantic(python, file, notes);
  if (peer) log(`pydantic: ${rate(smaller, peer.ms).toFixed(1)} MiB/s`);
  return {
    writer,
    mibPerS,
    mibPerCpuS,
    rssMiB,
    vsPydantic: peer && mibPerS / rate(smaller, peer.ms),
    vsPydanticCpu: peer && mibPerCpuS / rate(smaller, peer.cpuMs),
    pydanticMibPerS: peer && rate(smaller, peer.ms),
  };
}

function rate(bytes: number, ms: number): number {
  return bytes / 1024 ** 2 / (ms / 1000);
}

function measured({ code, stdout, stderr }: Finished): Measured {
  if (code !== 0) throw new Error(`Measuring failed:\n${stderr}`);
  return lastJson<Measured>(stdout);
}

/** Pinned to one core where that can be done: reading files would otherwise use a second one. */
async function onOneCore(program: string, args: readonly string[], notes: string[]): Promise<Finished> {
  if ((await exec("taskset", ["-c", "0", program, "--version"])).code === 0)
    return exec("taskset", ["-c", "0", program, ...args]);
  notes.push("taskset is not there: reading may have used a second core");
  return exec(program, args);
}

/** A Python with pydantic; null: there is none. */
async function pydanticPython(notes: string[]): Promise<string | null> {
  const python = process.env.SPOTTER_BENCH_PYTHON ?? "python3";
  const found = await exec(python, ["-c", "import pydantic; print(pydantic.VERSION)"]);
  notes.push(
    found.code === 0
      ? `pydantic ${found.stdout.trim()}`
      : "vsPydantic: there is no Python with pydantic 2 (pip install pydantic); name one in SPOTTER_BENCH_PYTHON",
  );
  return found.code === 0 ? python : null;
}

async function withPydantic(python: string, file: string, notes: string[]): Promise<Measured> {
  return measured(await onOneCore(python, [join(root, "bench/validate/pydantic-rows.py"), file], notes));
}

/** The whole command, process start included, on the example. */
async function smallProject(log: (line: string) => void): Promise<number> {
  const folder = join(root, "examples/project-folder");
  if (!existsSync(folder)) throw new Error(`There is no ${folder}.`);
  const walls: number[] = [];
  // The first round warms the file cache and is not counted.
  for (let round = 0; round <= ROUNDS; round++) {
    const args = [join(root, "dist/sdk/cli/bin.js"), "validate", "-d", folder, "--json"];
    const { code, stdout, elapsedMs } = await exec(process.execPath, args);
    if (code !== 0) throw new Error(`The example is not valid: ${stdout}`);
    if (round > 0) walls.push(elapsedMs);
  }
  log(`small project: ${walls.map((ms) => ms.toFixed(0)).join(", ")} ms`);
  return median(walls);
}
