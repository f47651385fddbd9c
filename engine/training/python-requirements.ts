import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { ContainerLog } from "../agent/log.ts";

/** What a program came to, with the end of what it said. */
export interface Finished {
  /** Null where it had to be ended. */
  code: number | null;
  output: string;
}

export type RunProgram = (program: string, words: readonly string[], timeoutMs: number) => Promise<Finished>;

export interface RequirementsParams {
  /** What requirements.txt says. */
  text: string;
  /** Whose packages are seen as well. */
  python: string;
  /** Environments are kept here, one for each text and Python. */
  cacheFolder: string;
  log: Pick<ContainerLog, "info" | "warn">;
  /** Of pip. Default: 10 minutes. */
  timeoutMs?: number;
  run?: RunProgram;
}

const SHORT_MS = 60_000;
const TOLD_LINES = 8;
const KEPT_CHARACTERS = 8_000;

/**
 * The Python that has what requirements.txt names: one of an environment of its own, made the first time and found
 * again afterwards. Where there is no pip, or nothing to install, the Python as it came.
 *
 * @throws SpotterError `user_code_invalid` with pip's last lines.
 */
export async function pythonWithRequirements(params: RequirementsParams): Promise<string> {
  const { text, python, cacheFolder, log, timeoutMs = 600_000, run = runProgram } = params;
  if (!namesAnything(text)) return python;
  const pip = await run(python, ["-m", "pip", "--version"], SHORT_MS);
  if (pip.code !== 0) {
    log.warn(`python: requirements.txt is not installed, because ${python} has no pip`);
    return python;
  }
  // Its first line tells pip's place and so the Python, too.
  const folder = join(cacheFolder, hashOf(`${pip.output}\n${text}`));
  if (await exists(programIn(folder))) return programIn(folder);
  const fresh = `${folder}.${randomUUID()}`;
  log.info("python: installing requirements.txt");
  try {
    await install({ fresh, text, python, timeoutMs, run });
    await keep(fresh, folder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return programIn(folder);
}

/** More than comments and empty lines. */
function namesAnything(text: string): boolean {
  return text.split("\n").some((line) => !/^\s*(?:#|$)/.test(line));
}

interface InstallParams extends Required<Pick<RequirementsParams, "text" | "python" | "timeoutMs" | "run">> {
  fresh: string;
}

async function install({ fresh, text, python, timeoutMs, run }: InstallParams): Promise<void> {
  await mkdir(fresh, { recursive: true, mode: 0o700 });
  const file = join(fresh, "requirements.txt");
  const words = ["install", "--no-input", "--disable-pip-version-check", "--requirement", file];
  const environment = ["-m", "venv", "--system-site-packages"];
  // Without a pip of its own an environment is there at once.
  await must(run(python, [...environment, "--without-pip", fresh], SHORT_MS), "made");
  await writeFile(file, text);
  const done = await run(python, ["-m", "pip", "--python", programIn(fresh), ...words], timeoutMs);
  if (!done.output.includes("no such option: --python")) return checked(done, timeoutMs);
  // A pip from before 2022 installs only where it is installed itself.
  await must(run(python, [...environment, fresh], 2 * SHORT_MS), "made");
  checked(await run(programIn(fresh), ["-m", "pip", ...words], timeoutMs), timeoutMs);
}

async function must(running: Promise<Finished>, what: string): Promise<void> {
  const { code, output } = await running;
  if (code !== 0) throw failed(`An environment for requirements.txt could not be ${what}`, output);
}

function checked({ code, output }: Finished, timeoutMs: number): void {
  if (code === null) throw failed(`requirements.txt was not installed within ${timeoutMs / 1000} s`, output);
  if (code !== 0) throw failed("requirements.txt could not be installed", output);
}

function failed(what: string, output: string): SpotterError {
  const lines = output.trim().split("\n").slice(-TOLD_LINES);
  return new SpotterError("user_code_invalid", `${what}:\n${lines.map((line) => `  ${line}`).join("\n")}`, {
    where: "requirements.txt",
    hint: "Try it yourself: python3 -m venv /tmp/try && /tmp/try/bin/pip install -r requirements.txt",
  });
}

/** Somebody else may have been first; theirs is as good. */
async function keep(fresh: string, folder: string): Promise<void> {
  try {
    await rename(fresh, folder);
  } catch (error) {
    if (!(await exists(programIn(folder)))) throw error;
  }
}

function programIn(folder: string): string {
  return join(folder, "bin", "python");
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** Resolves when it ended, also where there is no such program. */
function runProgram(program: string, words: readonly string[], timeoutMs: number): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    let output = "";
    const take = (text: string) => (output = (output + text).slice(-KEPT_CHARACTERS));
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    // With what it started itself, compilers say.
    const watch = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), timeoutMs);
    const end = (code: number | null) => {
      clearTimeout(watch);
      resolve({ code, output });
    };
    child.once("error", () => end(127));
    child.once("close", end);
  });
}
