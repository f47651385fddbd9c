import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { Control } from "../../control.ts";
import { isGatewayPath } from "../../gateway/paths.ts";
import { openAiErrorBody } from "../../gateway/openai-errors.ts";

interface SoundBodyParams {
  path: string;
  /** Default: as long as it lasts. */
  maxStreamMs?: number | undefined;
}

/**
 * Ends a stream of events in a way that its reader understands. Lambda ends an answer that breaks off like one
 * that is complete, so an error becomes an event, the last one. And a reader that went away is not told of here:
 * a stream that would go on is ended after a while, and whoever still reads asks again.
 */
export function soundBody(control: Control, response: Response, params: SoundBodyParams): Response {
  const { body, status, headers } = response;
  if (body === null || headers.get("content-type")?.startsWith("text/event-stream") !== true) return response;
  return new Response(ReadableStream.from(events(control, body, params)), { status, headers });
}

async function* events(
  control: Control,
  body: ReadableStream<Uint8Array>,
  { path, maxStreamMs }: SoundBodyParams,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const over = Promise.withResolvers<"over">();
  const cancel =
    maxStreamMs === undefined ? () => {} : control.clock.after(maxStreamMs, () => over.resolve("over"));
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), over.promise]);
      if (next === "over" || next.done) return;
      yield next.value;
    }
  } catch (thrown) {
    control.log.error("a stream broke off", { path, error: thrown });
    yield Buffer.from(errorEvent(control, path, thrown));
  } finally {
    cancel();
    await reader.cancel().catch(() => undefined);
  }
}

/** The blank line first: the stream may have broken off within an event. */
function errorEvent(control: Control, path: string, thrown: unknown): string {
  const error = SpotterError.is(thrown)
    ? thrown
    : new SpotterError("internal", "This stream broke off; what came so far is not all.", {
        hint: "Ask again.",
      });
  const isGateway = isGatewayPath(path) || path === "/ui/api/chat";
  const body = isGateway ? openAiErrorBody(error) : error.toBody();
  const event = isGateway ? "" : "event: error\n";
  return `\n\n${event}data: ${control.secrets.redact(JSON.stringify(body))}\n\n`;
}
