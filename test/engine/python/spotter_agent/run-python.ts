import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const PYTHON_DIR = fileURLToPath(new URL("../../../../engine/python", import.meta.url));
const STUBS = fileURLToPath(new URL("../../../fixtures/engines/stubs", import.meta.url));

/** Runs a program with the agent, its plug-ins and stub modules of the engines; what it prints, line by line. */
export async function runPython(
  program: string,
  env: Record<string, string> = {},
  onEnd: (end: () => void) => void = onTestFinished,
): Promise<string[]> {
  const child = spawn("python3", ["-c", program], {
    env: {
      PATH: process.env["PATH"],
      PYTHONPATH: `${PYTHON_DIR}:${STUBS}`,
      PYTHONDONTWRITEBYTECODE: "1",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onEnd(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  await once(child, "close");
  if (stdout === "") throw new Error(stderr);
  return stdout.trim().split("\n");
}
