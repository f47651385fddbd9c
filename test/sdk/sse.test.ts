import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSse } from "../../sdk/sse.ts";

function bodyOf(chunks: readonly Uint8Array[], onCancel?: () => void): ReadableStream<Uint8Array> {
  let index = 0;
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks[index++];
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
    cancel: onCancel,
  });
}

async function read(...chunks: (string | Uint8Array)[]): Promise<string[]> {
  const bytes = chunks.map((chunk) => (typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk));
  const data: string[] = [];
  for await (const each of readSse(bodyOf(bytes))) data.push(each);
  return data;
}

describe("readSse", () => {
  it("yields the data of each event and skips comments, names and ids", async () => {
    const text = ": hello\n\nevent: message\nid: 7\ndata: one\n\nretry: 5\n\ndata: two\n\n";
    expect(await read(text)).toEqual(["one", "two"]);
  });

  it("joins several data lines and removes one leading space only", async () => {
    expect(await read("data: a\ndata:  b\ndata\n\n")).toEqual(["a\n b\n"]);
  });

  it("takes \\n, \\r\\n and \\r as line ends, mixed", async () => {
    expect(await read("data: a\r\n\r\ndata: b\r\rdata: c\n\n")).toEqual(["a", "b", "c"]);
  });

  it("drops an event that no blank line ended", async () => {
    expect(await read("data: a\n\ndata: half")).toEqual(["a"]);
  });

  it("reads the same however the bytes are cut, inside UTF-8 and between \\r and \\n", async () => {
    const bytes = new TextEncoder().encode("data: häiku 🌸\r\n\r\n: ping\r\n\r\ndata: [DONE]\r\n\r\n");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 }),
        async (cuts) => {
          const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
          const chunks = edges.slice(1).map((end, index) => bytes.slice(edges[index], end));
          expect(await read(...chunks)).toEqual(["häiku 🌸", "[DONE]"]);
        },
      ),
    );
  });

  it("cancels the body when the loop is left", async () => {
    let cancelled = false;
    const body = bodyOf([new TextEncoder().encode("data: a\n\ndata: b\n\n"), new Uint8Array(1)], () => {
      cancelled = true;
    });
    for await (const data of readSse(body)) {
      expect(data).toBe("a");
      break;
    }
    expect(cancelled).toBe(true);
  });
});
