import type { Control } from "../control.ts";
import { convertJobId, findConversion, modelConversionId } from "../conversions/records.ts";
import { logsOf } from "../http/logs.ts";
import { trainJobId } from "../jobs/records.ts";
import { getRun } from "./records.ts";

/** The last lines that the newest attempt of a run has written, or the conversion that comes before the first. */
export async function runLogs(control: Control, id: string, lines: number): Promise<{ lines: string[] }> {
  const { run } = await getRun(control, id);
  const jobId = run.attempt === 0 ? await conversionJobOf(control, id) : trainJobId(run.id, run.attempt);
  return logsOf(control, jobId, lines, run.failure?.logTail);
}

async function conversionJobOf(control: Control, runId: string): Promise<string | undefined> {
  const found = await findConversion(control, modelConversionId(runId));
  return found === undefined || found.attempt === 0 ? undefined : convertJobId(found.id, found.attempt);
}
