import { isTable } from "../walk.ts";
import type { Conversion } from "./tree.ts";

/** The step to resume from belongs to the checkpoints here, and stands by itself there. */
export function resumeFromHead(it: Conversion, at: string): void {
  const resume = it.take(`${at}resume`);
  if (!isTable(resume)) return;
  if (resume["dir"] != null) it.lose(`${at}resume.dir`, "this version resumes a run in its own folder.");
  else it.put(`${at}ckpt.resume_step`, resume["step"] ?? -1);
}

/** -1 is the latest checkpoint, a number that one, null none. */
export function resumeToHead(step: unknown): Record<string, unknown> | null {
  if (typeof step !== "number") return null;
  return step === -1 ? {} : { step };
}
