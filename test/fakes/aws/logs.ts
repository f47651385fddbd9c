import type * as logs from "@aws-sdk/client-cloudwatch-logs";
import { Fault } from "./fault.ts";
import type { LogLine, LogStore } from "./log-store.ts";
import { page } from "./pages.ts";
import type { Handlers } from "./server.ts";

const missing = (what: string): Fault =>
  new Fault("ResourceNotFoundException", `The specified log ${what} does not exist.`);

/** CloudWatch Logs. */
export function logsHandlers(store: LogStore, now: () => number): Handlers {
  const group = (name: string | undefined): Map<string, LogLine[]> => {
    const found = store.groups.get(name ?? "");
    if (found === undefined) throw missing("group");
    return found;
  };
  return {
    CreateLogGroup({ logGroupName = "" }: logs.CreateLogGroupRequest) {
      if (store.groups.has(logGroupName)) {
        throw new Fault("ResourceAlreadyExistsException", "The specified log group already exists");
      }
      store.groups.set(logGroupName, new Map());
      return {};
    },
    CreateLogStream({ logGroupName, logStreamName = "" }: logs.CreateLogStreamRequest) {
      if (group(logGroupName).has(logStreamName)) {
        throw new Fault("ResourceAlreadyExistsException", "The specified log stream already exists");
      }
      group(logGroupName).set(logStreamName, []);
      return {};
    },
    PutLogEvents({
      logGroupName = "",
      logStreamName = "",
      logEvents = [],
    }: logs.PutLogEventsRequest): logs.PutLogEventsResponse {
      if (!group(logGroupName).has(logStreamName)) throw missing("stream");
      for (const { message = "", timestamp = 0 } of logEvents) {
        store.add(logGroupName, logStreamName, message, timestamp, now());
      }
      return {};
    },
    GetLogEvents: (input: logs.GetLogEventsRequest) => getLogEvents(group(input.logGroupName), input),
    FilterLogEvents: (input: logs.FilterLogEventsRequest) =>
      filterLogEvents(group(input.logGroupName), input),
    DescribeLogStreams(input: logs.DescribeLogStreamsRequest): logs.DescribeLogStreamsResponse {
      const { logGroupName, logStreamNamePrefix = "", limit, nextToken } = input;
      const all = [...group(logGroupName)].filter(([name]) => name.startsWith(logStreamNamePrefix));
      const { items, next } = page(all, {
        maxResults: limit,
        nextToken,
        most: 50,
        code: "InvalidParameterException",
      });
      return {
        logStreams: items.map(([logStreamName, lines]) => ({
          logStreamName,
          firstEventTimestamp: lines[0]?.timestamp,
          lastEventTimestamp: lines.at(-1)?.timestamp,
        })),
        nextToken: next,
      };
    },
  };
}

const within = (lines: LogLine[], startTime = 0, endTime = Infinity): LogLine[] =>
  lines.filter(({ timestamp }) => timestamp >= startTime && timestamp < endTime);

/** Tokens are `f/from` and `b/to`: a reader that gets the token it gave has reached the end. */
function getLogEvents(
  streams: Map<string, LogLine[]>,
  input: logs.GetLogEventsRequest,
): logs.GetLogEventsResponse {
  const { logStreamName = "", startTime, endTime, limit = 10_000, startFromHead = false, nextToken } = input;
  if (limit < 1 || limit > 10_000)
    throw new Fault("InvalidParameterException", "limit must be between 1 and 10000.");
  const stream = streams.get(logStreamName);
  if (stream === undefined) throw missing("stream");
  const lines = within(stream, startTime, endTime);
  const [direction, position] = (nextToken ?? (startFromHead ? "f/0" : `b/${lines.length}`)).split("/");
  const at = Number(position);
  const [from, to] =
    direction === "f"
      ? [at, Math.min(lines.length, at + limit)]
      : [Math.max(0, at - limit), Math.min(lines.length, at)];
  return { events: lines.slice(from, to), nextForwardToken: `f/${to}`, nextBackwardToken: `b/${from}` };
}

function filterLogEvents(
  streams: Map<string, LogLine[]>,
  input: logs.FilterLogEventsRequest,
): logs.FilterLogEventsResponse {
  const {
    logStreamNames,
    logStreamNamePrefix,
    startTime,
    endTime,
    filterPattern = "",
    limit,
    nextToken,
  } = input;
  if (logStreamNames !== undefined && logStreamNamePrefix !== undefined) {
    throw new Fault(
      "InvalidParameterException",
      "logStreamNames and logStreamNamePrefix cannot be used together.",
    );
  }
  const words = filterPattern
    .split(/\s+/)
    .map((each) => each.replace(/^"|"$/g, ""))
    .filter((each) => each !== "");
  const events = [...streams]
    .filter(([name]) => logStreamNames?.includes(name) ?? name.startsWith(logStreamNamePrefix ?? ""))
    .flatMap(([logStreamName, lines]) =>
      within(lines, startTime, endTime).map((line) => ({ logStreamName, ...line })),
    )
    .filter(({ message }) => words.every((word) => message.includes(word)))
    .sort((a, b) => a.timestamp - b.timestamp);
  const { items, next } = page(events, {
    maxResults: limit,
    nextToken,
    most: 10_000,
    code: "InvalidParameterException",
  });
  return { events: items, searchedLogStreams: [], nextToken: next };
}
