import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Acceptor, type AcceptorState } from "../../../../engine/onnx/sample/constraint/acceptor.ts";
import { textUntil } from "../../../../engine/serve/output/text-until.ts";

function placeAfter(end: string, text: string): AcceptorState | undefined {
  const acceptor = new Acceptor({ root: { rule: "t0" }, rules: textUntil(end, "t") });
  let at: AcceptorState | undefined = acceptor.start;
  for (const byte of new TextEncoder().encode(text)) at = at && acceptor.next(at, byte);
  return at;
}

describe("textUntil", () => {
  it("ends with the first of its ends, and nowhere else", () => {
    const ends = fc.constantFrom("</think>", "aab", "abab", "aa");
    const text = fc.string({ unit: fc.constantFrom("a", "b", "<", "/", "</think", ">", "é"), maxLength: 12 });
    fc.assert(
      fc.property(ends, text, (end, before) => {
        const at = (before + end).indexOf(end);
        const whole = (before + end).slice(0, at + end.length);
        expect(placeAfter(end, whole)?.complete).toBe(true);
        expect(placeAfter(end, whole.slice(0, -1))?.accepts).toBe(false);
        expect(placeAfter(end, `${whole}a`)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });
});
