import type { PutEventsRequest, PutEventsResponse } from "@aws-sdk/client-eventbridge";
import type { FakeEvents } from "./events.ts";
import { Fault } from "./fault.ts";
import type { Handlers } from "./server.ts";

const mostBytes = 1_048_576;

/** EventBridge: what is put on the bus reaches the listener like the services' own events. */
export function eventBridgeHandlers(events: FakeEvents): Handlers {
  return {
    PutEvents({ Entries = [] }: PutEventsRequest): PutEventsResponse {
      if (Entries.length < 1 || Entries.length > 10) {
        throw new Fault("ValidationException", "Entries must have between 1 and 10 elements.");
      }
      if (Buffer.byteLength(JSON.stringify(Entries)) > mostBytes) {
        throw new Fault("ValidationException", "Total size of the entries in the request is over the limit.");
      }
      const answers = Entries.map(({ Source, DetailType, Detail, Resources = [] }) => {
        if (Source === undefined || DetailType === undefined || Detail === undefined) {
          return {
            ErrorCode: "InvalidArgument",
            ErrorMessage: "Source, DetailType and Detail are required.",
          };
        }
        const detail = objectOf(Detail);
        if (detail === undefined)
          return { ErrorCode: "MalformedDetail", ErrorMessage: "Detail is malformed." };
        return { EventId: events.publish(Source, DetailType, Resources, detail) };
      });
      return { Entries: answers, FailedEntryCount: answers.filter((each) => "ErrorCode" in each).length };
    },
  };
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
