import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StopStrings } from "../../../../engine/onnx/text/stop-strings.ts";

describe("StopStrings", () => {
  it("holds back what may be a stop string, and no more", () => {
    const stops = new StopStrings(["\n\n", "END"]);
    expect(stops.push("one\n")).toBe("one");
    expect(stops.push("two E")).toBe("\ntwo ");
    expect(stops.push("N")).toBe("");
    expect(stops.push("T")).toBe("ENT");
    expect(stops.push("xEN")).toBe("x");
    expect(stops.push("D more")).toBe("");
    expect(stops.stopped).toBe(true);
    expect(stops.push("never")).toBe("");
    expect(stops.end()).toBe("");
  });

  it("gives back at the end what turned out to be none", () => {
    const stops = new StopStrings(["END"]);
    expect(stops.push("the EN")).toBe("the ");
    expect(stops.end()).toBe("EN");
    expect(stops.stopped).toBe(false);
  });

  it("stops at the one that is complete first", () => {
    const whole = new StopStrings(["abc", "b"]);
    expect(whole.push("abc")).toBe("a");
    const cut = new StopStrings(["abc", "b"]);
    expect(cut.push("ab")).toBe("a");
  });

  it("finds the same however the text is cut", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 });
    const stop = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), fc.array(stop, { maxLength: 3 }), (pieces, list) => {
        const whole = pieces.join("");
        const found = list
          .map((item) => ({ start: whole.indexOf(item), end: whole.indexOf(item) + item.length }))
          .filter(({ start }) => start >= 0)
          .sort((a, b) => a.end - b.end || a.start - b.start);
        const stops = new StopStrings(list);
        const out = pieces.map((piece) => stops.push(piece)).join("") + stops.end();
        expect(out).toBe(whole.slice(0, found[0]?.start));
        expect(stops.stopped).toBe(found.length > 0);
      }),
      { numRuns: 500 },
    );
  });
});
