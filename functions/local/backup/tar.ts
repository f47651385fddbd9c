import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { diskFull } from "../disk-error.ts";

const run = promisify(execFile);

/** Runs the system's tar. What it prints is small: nothing is listed with it but manifests. */
export async function tar(args: string[]): Promise<string> {
  try {
    const { stdout } = await run("tar", args, { maxBuffer: 1_000_000, env: { ...process.env, LC_ALL: "C" } });
    return stdout;
  } catch (error) {
    const { code, stderr = "" } = error as { code?: unknown; stderr?: string };
    if (code === "ENOENT") {
      throw new SpotterError("not_found", "There is no program `tar` on this machine.", {
        hint: "Install it; every Linux and macOS has a package for it.",
        cause: error,
      });
    }
    if (stderr.includes("No space left")) throw diskFull(args[1] ?? "the archive", error);
    throw new SpotterError("invalid_input", `tar failed: ${stderr.trim().split("\n")[0] ?? ""}`, {
      where: args[1],
      cause: error,
    });
  }
}
