import * as z from "zod/mini";
import type { Control } from "../control.ts";

export const logQuery = z.object({
  lines: z._default(z.coerce.number().check(z.int(), z.gt(0), z.lte(10_000)), 200),
});
export const logLines = { lines: z.array(z.string()) };

/** What a container wrote last; where nothing is left of it, the lines its record kept. */
export async function logsOf(
  control: Control,
  jobId: string | undefined,
  lines: number,
  kept: string[] | undefined,
): Promise<{ lines: string[] }> {
  const live = jobId === undefined ? [] : await control.containers.logs(jobId, lines);
  return { lines: live.length > 0 ? live : (kept ?? []).slice(-lines) };
}
