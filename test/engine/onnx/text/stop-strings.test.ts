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

  it("finds the same however the text is cut", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 });
    const stop = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), fc.array(stop, { maxLength: 3 }), (pieces, list) => {
        const whole = pieces.join("");
        const ends = list.map((item) => whole.indexOf(item)).filter((index) => index >= 0);
        const stops = new StopStrings(list);
        const out = pieces.map((piece) => stops.push(piece)).join("") + stops.end();
        expect(out).toBe(ends.length === 0 ? whole : whole.slice(0, Math.min(...ends)));
        expect(stops.stopped).toBe(ends.length > 0);
      }),
    );
  });
});
