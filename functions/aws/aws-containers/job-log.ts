import type { LogsApi } from "./apis.ts";

/** The largest page that CloudWatch gives. */
const MAX_LINES = 10_000;

/** The last lines of a log stream, oldest first; none while the stream does not exist. */
export async function lastLines(
  api: LogsApi,
  group: string,
  stream: string,
  lines: number,
): Promise<string[]> {
  if (lines <= 0) return [];
  try {
    const answer = await api.getLogEvents({
      logGroupName: group,
      logStreamName: stream,
      startFromHead: false,
      limit: Math.min(lines, MAX_LINES),
    });
    const messages = (answer.events ?? []).map(({ message = "" }) => message.replace(/\n$/, ""));
    return messages.slice(-lines);
  } catch (error) {
    if (error instanceof Error && error.name === "ResourceNotFoundException") return [];
    throw error;
  }
}
