import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonScan, type ScanResult } from "../../../sdk/schema/json-scan.ts";

/** What is known after each letter, up to the first that ends it. */
function scan(text: string): { result: ScanResult; read: number } {
  const scanner = new JsonScan();
  let result: ScanResult = "more";
  let read = 0;
  while (read < text.length && result === "more") result = scanner.push(text[read++] ?? "");
  return { result, read };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const letters = fc.constantFrom(...'{}[]:,"\\ \n\t0123.eE+-truefalsnu\u0001é');

describe("JsonScan", () => {
  it("knows where a value ends: at its last letter, or a number at the letter after", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const end = typeof value === "number" ? "over" : "done";
        const read = text.length + (end === "over" ? 1 : 0);
        expect(scan(`${text},`)).toEqual({ result: end, read });
      }),
    );
  });

  it("takes what JSON.parse takes, and calls all else bad or unfinished", () => {
    const text = fc.tuple(
      fc.jsonValue(),
      fc.nat(),
      fc.nat({ max: 2 }),
      fc.string({ unit: letters, maxLength: 3 }),
    );
    fc.assert(
      fc.property(text, ([value, at, drop, extra]) => {
        const whole = JSON.stringify([value]);
        const place = 1 + (at % whole.length);
        const damaged = whole.slice(0, place) + extra + whole.slice(place + drop);
        const { result, read } = scan(damaged);
        expect(result === "done" && damaged.slice(read).trim() === "").toBe(isJson(damaged));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    "-x",
    "01",
    "1.",
    ".5",
    "1e",
    '"\u0001"',
    '"\\x"',
    '"\\u00g0"',
    "nul1",
    "[1,]",
    '{"a"}',
    "{1:2}",
    "[}",
    "x",
  ])("is bad, or never ends: %j", (text) => {
    expect(scan(`${text} `).result).not.toBe("done");
    expect(isJson(text)).toBe(false);
  });
});
