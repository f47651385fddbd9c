import type { Control } from "../control.ts";
import { logsOf } from "../http/logs.ts";
import { trainJobId } from "../jobs/records.ts";
import { getRun } from "./records.ts";

/** The last lines that the newest attempt of a run has written. */
export async function runLogs(control: Control, id: string, lines: number): Promise<{ lines: string[] }> {
  const { run } = await getRun(control, id);
  const jobId = run.attempt === 0 ? undefined : trainJobId(run.id, run.attempt);
  return logsOf(control, jobId, lines, run.failure?.logTail);
}
