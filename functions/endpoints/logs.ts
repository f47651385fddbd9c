import type { Control } from "../control.ts";
import { logsOf } from "../http/logs.ts";
import { serveJobId } from "../jobs/records.ts";
import { getEndpoint } from "./records.ts";

/** The last lines that the newest replica of an endpoint has written. */
export async function endpointLogs(
  control: Control,
  name: string,
  lines: number,
): Promise<{ lines: string[] }> {
  const { endpoint, launches } = await getEndpoint(control, name);
  const newest = endpoint.replicas.at(-1)?.jobId ?? serveJobId(endpoint.name, endpoint.revision, launches);
  return logsOf(control, newest, lines, endpoint.failure?.logTail);
}
