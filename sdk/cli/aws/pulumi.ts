import { spawn, type ChildProcess } from "node:child_process";
import { delimiter, join } from "node:path";
import type { Writable } from "node:stream";
import { SpotterError } from "../../schema/errors.ts";

export interface PulumiParams {
  /** With Pulumi.yaml. */
  folder: string;
  /** Default: that of this process. */
  env?: NodeJS.ProcessEnv;
}

export interface Finished {
  /** Null: ended by a signal. */
  code: number | null;
  stdout: string;
  /** Of what was only shown: the last 20,000 characters. */
  stderr: string;
}

export interface ShowParams {
  /** Where its own output goes; `inherit`: to the terminal of this process. */
  out: Writable | "inherit";
  err: Writable;
  /** Aborting it asks Pulumi to stop in good order. */
  signal: AbortSignal;
}

/** The Pulumi command line, in the folder of the program. */
export interface Pulumi {
  folder: string;
  /** What it runs with. */
  env: NodeJS.ProcessEnv;
  /** Runs it unseen and resolves however it ends. */
  ask(...args: string[]): Promise<Finished>;
  /** Runs it for people to see. */
  show(args: readonly string[], params: ShowParams): Promise<Finished>;
}

const MISSING = {
  where: "pulumi",
  hint: "Install it: https://www.pulumi.com/docs/install/ (`curl -fsSL https://get.pulumi.com | sh`), then open a new shell.",
};
const KEPT = 20_000;

/** @throws SpotterError `package_missing` with the first call, where there is none on the path. */
export function openPulumi({ folder, env = process.env }: PulumiParams): Pulumi {
  const options = { cwd: folder, env: environment(folder, env) };
  return {
    folder,
    env: options.env,
    ask: (...args) => {
      const child = spawn("pulumi", [...args, "--non-interactive"], {
        ...options,
        stdio: ["ignore", "pipe", "pipe"],
      });
      return finished(child);
    },
    async show(args, { out, err, signal }) {
      signal.throwIfAborted();
      const isTerminal = out === "inherit";
      const child = spawn("pulumi", [...args, ...(isTerminal ? [] : ["--non-interactive"])], {
        ...options,
        stdio: [isTerminal ? "inherit" : "ignore", isTerminal ? "inherit" : "pipe", "pipe"],
      });
      if (!isTerminal) child.stdout?.on("data", (text: string) => out.write(text));
      child.stderr?.on("data", (text: string) => err.write(text));
      const release = passInterrupts(child, signal);
      try {
        return await finished(child);
      } finally {
        release();
      }
    },
  };
}

/** The project's own Node first: it is the one that Pulumi runs the program with. */
function environment(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const modules = join(folder, "node_modules");
  const path = [join(modules, "node", "bin"), join(modules, ".bin"), env.PATH ?? ""].join(delimiter);
  return { ...env, PATH: path, PULUMI_SKIP_UPDATE_CHECK: "true" };
}

/**
 * The first interrupt lets Pulumi finish what is under way, the second one ends it. A terminal sends each to all its
 * programs; who is not at one has it passed on, once.
 */
function passInterrupts(child: ChildProcess, signal: AbortSignal): () => void {
  const pass = () => {
    if (!process.stdin.isTTY) child.kill("SIGINT");
  };
  let seen = 0;
  // The first one is also what aborts the signal.
  const onInterrupt = () => {
    if (++seen > 1) pass();
  };
  signal.addEventListener("abort", pass, { once: true });
  process.on("SIGINT", onInterrupt);
  return () => {
    signal.removeEventListener("abort", pass);
    process.removeListener("SIGINT", onInterrupt);
  };
}

function finished(child: ChildProcess): Promise<Finished> {
  let stdout = "";
  let stderr = "";
  // A letter may come in two pieces.
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-KEPT)));
  return new Promise((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) => reject(notStarted(error)));
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

function notStarted(cause: NodeJS.ErrnoException): SpotterError {
  if (cause.code === "ENOENT")
    return new SpotterError("package_missing", "Pulumi is not installed.", MISSING);
  return new SpotterError("package_missing", `Pulumi cannot be started: ${cause.message}.`, {
    where: "pulumi",
    hint: "What is called `pulumi` on the path (`command -v pulumi`) is no program for this machine; install it anew: https://www.pulumi.com/docs/install/",
    cause,
  });
}
