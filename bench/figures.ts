import { spawn } from "node:child_process";

/** What a benchmark measured; null where it could not be, with the reason in `notes`. */
export type Figures = Record<string, number | string | null | undefined | string[] | FigureRow[]> & {
  notes?: string[];
};

/** One line of a table of figures. */
export type FigureRow = Record<string, number | string | null>;

/** Every `bench/NAME.ts` exports this. `log` is for progress, on stderr. */
export interface Bench {
  run: (log: (line: string) => void) => Promise<Figures>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
  elapsedMs: number;
}

/** Runs a program to its end and keeps what it printed. */
export function exec(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeoutMs?: number } = {},
): Promise<Finished> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: options.timeoutMs ?? 600_000,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const finish = (code: number | null): void =>
      resolve({ code, stdout, stderr, elapsedMs: performance.now() - startedAt });
    child.on("error", (error) => {
      stderr += error.message;
      finish(null);
    });
    child.on("close", finish);
  });
}

/** The JSON object on the last line of a program's output. */
export function lastJson<T>(text: string): T {
  return JSON.parse(text.trim().split("\n").at(-1) ?? "") as T;
}
