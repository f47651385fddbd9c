import { expect, it } from "vitest";
import { frameOf, frameReader } from "../../../../functions/lambda/user-code-host/frames.ts";

it("gives messages whole, however they were cut", () => {
  const messages = ["", "a", "ü".repeat(100), "{}"];
  const bytes = Buffer.concat(messages.map(frameOf));
  for (const size of [1, 3, 7, bytes.length]) {
    const seen: string[] = [];
    const read = frameReader((text) => seen.push(text), 1_000);
    for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size));
    expect(seen).toEqual(messages);
  }
});

it("refuses a message that is longer than the most", () => {
  const read = frameReader(() => {}, 100);
  expect(() => read(frameOf("x".repeat(200)))).toThrow("204 bytes");
});
