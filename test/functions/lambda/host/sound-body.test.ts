import { expect, it, onTestFinished } from "vitest";
import { soundBody } from "../../../../functions/lambda/host/sound-body.ts";
import { SpotterError } from "../../../../sdk/schema/errors.ts";
import { testPlane } from "../../../fakes/control-plane.ts";

const SSE = { "content-type": "text/event-stream; charset=utf-8" };

function bodyOf(source: () => AsyncGenerator<string>, headers: Record<string, string> = SSE): Response {
  return new Response(ReadableStream.from(source()).pipeThrough(new TextEncoderStream()), { headers });
}

async function* broken(error: unknown) {
  yield "data: 1\n\n";
  yield 'data: {"half';
  throw error;
}

it("ends a stream that throws with an error event that no reader takes for its end", async () => {
  const { control, complaints } = await testPlane({ onEnd: onTestFinished });
  const error = new SpotterError("not_found", "It is gone.", { hint: "Look." });
  const text = await soundBody(
    control,
    bodyOf(() => broken(error)),
    { path: "/runs/x/news" },
  ).text();
  expect(text.split("\n\n")).toEqual([
    ...["data: 1", 'data: {"half', `event: error\ndata: ${JSON.stringify(error.toBody())}`, ""],
  ]);
  expect(complaints.join()).toContain("broke off");
});

it("speaks as OpenAI does where its clients listen, and hides what went wrong inside", async () => {
  const { control } = await testPlane({ onEnd: onTestFinished });
  const response = bodyOf(() => broken(new TypeError("secret detail")));
  const text = await soundBody(control, response, { path: "/v1/chat/completions" }).text();
  const last = JSON.parse(text.trim().split("\n\ndata: ").at(-1) ?? "") as { error: { code: string } };
  expect(last.error.code).toBe("internal_error");
  expect(text).not.toContain("secret detail");
});

it("ends a stream that goes on for too long, and its source with it", async () => {
  const { control, clock } = await testPlane({ onEnd: onTestFinished });
  let hasEnded = false;
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from("data: 1\n\n")),
    cancel: () => void (hasEnded = true),
  });
  const response = new Response(endless, { headers: SSE });
  const reading = soundBody(control, response, { path: "/ui/api/overview", maxStreamMs: 25_000 }).text();
  await new Promise((resolve) => setTimeout(resolve, 10));
  clock.advance(25_001);
  expect(await reading).toBe("data: 1\n\n");
  expect(hasEnded).toBe(true);
});

it("leaves everything else as it is", async () => {
  const { control } = await testPlane({ onEnd: onTestFinished });
  const json = Response.json({ ok: true });
  expect(soundBody(control, json, { path: "/keys" })).toBe(json);
});
