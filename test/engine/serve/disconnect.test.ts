import { afterEach, expect, it } from "vitest";
import { listen, serveScript, type Harness } from "./harness.ts";

let server: Awaited<ReturnType<typeof listen>> | undefined;
afterEach(() => server?.close());

/** An app over an engine that says one token and then nothing, and a promise of its first abort. */
function endless(): { harness: Harness; started: Promise<void>; aborted: Promise<void> } {
  let start = (): void => undefined;
  let abort = (): void => undefined;
  const started = new Promise<void>((resolve) => (start = resolve));
  const aborted = new Promise<void>((resolve) => (abort = resolve));
  const harness = serveScript((_request, emit, signal) => {
    signal.addEventListener("abort", abort, { once: true });
    emit(10);
    start();
    return new Promise(() => undefined);
  });
  return { harness, started, aborted };
}

it.each([{ stream: true }, { stream: false }])(
  "a socket that closes stops the engine: %j",
  async ({ stream }) => {
    const { harness, started, aborted } = endless();
    server = await listen(harness.app);
    const leave = new AbortController();
    const answer = fetch(`${server.url}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "haiku", stream, messages: [{ role: "user", content: "Hi" }] }),
      signal: leave.signal,
    }).then((response) => response.text());
    answer.catch(() => undefined);
    await started;
    leave.abort();
    await aborted;
    await expect(answer).rejects.toThrow();
    expect(harness.engine.aborted).toBe(1);
    expect(harness.errors).toEqual([]);
  },
);
