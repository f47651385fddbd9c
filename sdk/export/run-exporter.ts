import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { nodeProgram } from "../local/node-program.ts";
import { errorBody, SpotterError } from "../schema/errors.ts";
import { exported, type Exported, type ExportRequest } from "../schema/export.ts";

/** Writes a model in a process of its own, which knows models; this one only knows where they are. */
export async function runExporter(request: ExportRequest, signal?: AbortSignal): Promise<Exported> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const program = fileURLToPath(new URL(`../../engine/export.${extension}`, import.meta.url));
  const words = ["--no-warnings", program, JSON.stringify(request)];
  const { stdout, stderr } = await output(words, signal);
  return readAnswer(stdout.trim().split("\n").at(-1) ?? "", stderr);
}

/** What the process said; that it failed is in there as well. */
function output(words: string[], signal?: AbortSignal): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    execFile(nodeProgram(), words, { ...(signal && { signal }) }, (error, stdout, stderr) => {
      if (signal?.aborted === true)
        reject(new Error("The export was stopped.", { cause: signal.reason ?? error }));
      else resolve({ stdout, stderr });
    });
  });
}

function readAnswer(line: string, stderr: string): Exported {
  let answer: unknown;
  try {
    answer = JSON.parse(line);
  } catch {
    const why = stderr.trim().split("\n").at(-1) ?? "";
    throw new SpotterError("internal", `The export ended before it was done. ${why}`.trim(), {
      hint: "A model must fit into memory twice over; close what else needs it, and try again.",
    });
  }
  const failure = errorBody.safeParse(answer);
  if (failure.success) throw SpotterError.fromBody(failure.data, 500);
  return exported.parse(answer);
}
