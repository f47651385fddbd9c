import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Acceptor, type AcceptorState } from "../../../../../engine/onnx/sample/constraint/acceptor.ts";
import { maybe, type GrammarNode } from "../../../../../engine/onnx/sample/constraint/grammar.ts";
import { JSON_RULES } from "../../../../../engine/onnx/sample/constraint/json-grammar.ts";

/** The place after a text; undefined when it cannot begin so. */
function after(acceptor: Acceptor, text: string): AcceptorState | undefined {
  let at: AcceptorState | undefined = acceptor.start;
  for (const byte of new TextEncoder().encode(text)) at = at && acceptor.next(at, byte);
  return at;
}

const accepts = (acceptor: Acceptor, text: string): boolean => after(acceptor, text)?.accepts ?? false;
const acceptorOf = (root: GrammarNode): Acceptor => new Acceptor({ root, rules: JSON_RULES });
const json = acceptorOf({ rule: "value" });

describe("Acceptor", () => {
  it("follows choices, repetitions and rules that use themselves", () => {
    const root: GrammarNode = { rule: "nest" };
    const nest: GrammarNode = {
      all: [
        { text: "(" },
        { many: { oneOf: [{ rule: "nest" }, { text: "ab" }, { text: "ac" }] } },
        { text: ")" },
      ],
    };
    const acceptor = new Acceptor({ root, rules: { nest } });
    for (const text of ["()", "(ab)", "(acab)", "((ab)(()))"]) expect(accepts(acceptor, text)).toBe(true);
    for (const text of ["(", "(a)", ")", "())", "(abc)"]) expect(accepts(acceptor, text)).toBe(false);
    expect(after(acceptor, "((ac)")).toBeDefined();
    expect(after(acceptor, "()")).toMatchObject({ accepts: true, complete: true });
  });

  it("counts repetitions that have an end, and stands things that may be empty in repetitions", () => {
    const some = acceptorOf({ many: { text: "x" }, atMost: 3 });
    expect(["", "x", "xx", "xxx", "xxxx"].map((text) => accepts(some, text))).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    expect(after(some, "xxx")?.complete).toBe(true);
    const empty = acceptorOf({ many: maybe({ text: "x" }) });
    expect(accepts(empty, "xxxx")).toBe(true);
    expect(accepts(acceptorOf({ many: { text: "x" }, atMost: 0 }), "")).toBe(true);
  });

  it("counts those it must have, and has none where there may be none", () => {
    const some = acceptorOf({ all: [{ many: { text: "x" }, atLeast: 2, atMost: 3 }, { text: "!" }] });
    expect(["x!", "xx!", "xxx!", "xxxx!"].map((text) => accepts(some, text))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    const many = acceptorOf({ many: { text: "x" }, atLeast: 2 });
    expect(["x", "xx", "xxxxx"].map((text) => accepts(many, text))).toEqual([false, true, true]);
  });

  it("takes the same texts whatever alternatives begin with", () => {
    const words = fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 6 }), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(words, fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 7 }), (texts, other) => {
        const acceptor = acceptorOf({ oneOf: texts.map((text) => ({ text })) });
        for (const text of texts) expect(accepts(acceptor, text)).toBe(true);
        expect(accepts(acceptor, other)).toBe(texts.includes(other));
      }),
      { numRuns: 100 },
    );
  });

  it("stops where the work allowed is done", () => {
    const acceptor = acceptorOf({ rule: "value" });
    acceptor.allowance = 3;
    expect(() => after(acceptor, '{"a"')).toThrowError(
      expect.objectContaining({ code: "grammar_too_complex", status: 400 }) as Error,
    );
    acceptor.allowance = Infinity;
    expect(accepts(acceptor, '{"a":1}')).toBe(true);
  });

  it("forgets what it saw when that is too much, and goes on all the same", () => {
    const forgetful = new Acceptor({ root: { rule: "value" }, rules: JSON_RULES }, 10);
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, cut) => {
        const text = JSON.stringify(value);
        expect(accepts(forgetful, text)).toBe(true);
        const part = text.slice(0, cut % (text.length + 1));
        expect(accepts(forgetful, part)).toBe(accepts(json, part));
      }),
      { numRuns: 50 },
    );
  });

  it("is at the same place after the same openings, so that masks are found again", () => {
    expect(after(json, '{"a": "bc')).toBe(after(json, '{"a": "b'));
    expect(after(json, '{"a": "bc')).not.toBe(after(json, '["b'));
  });
});

describe("JSON", () => {
  it("is accepted as it is usually written, and every beginning of it goes on", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(accepts(json, text)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it("is what the parser takes: nothing else is accepted", () => {
    const letters = fc.constantFrom(...'{}[]",:\\ \n0123.eE+-truefalsn\u00e9\u0001');
    const damaged = fc
      .tuple(fc.jsonValue(), fc.nat(), fc.nat({ max: 3 }), fc.string({ unit: letters, maxLength: 3 }))
      .map(([value, at, drop, extra]) => {
        const text = JSON.stringify(value);
        const place = at % (text.length + 1);
        return text.slice(0, place) + extra + text.slice(place + drop);
      });
    fc.assert(
      fc.property(damaged, (text) => {
        if (accepts(json, text)) JSON.parse(text);
      }),
      { numRuns: 500 },
    );
  });

  it("has whole characters only in strings", () => {
    const bytes = (...values: number[]): AcceptorState | undefined => {
      let at: AcceptorState | undefined = json.start;
      for (const byte of [0x22, ...values]) at = at && json.next(at, byte);
      return at;
    };
    expect(bytes(0xc3)).toBeDefined();
    expect(bytes(0xc3, 0x22)).toBeUndefined();
    expect(bytes(0xff)).toBeUndefined();
    expect(bytes(0xed, 0xa0)).toBeUndefined();
    expect(bytes(0xf0, 0x9f, 0x8d, 0x81, 0x22)?.accepts).toBe(true);
  });

  it("cannot go on for ever between its parts", () => {
    expect(after(json, `[\n${" ".repeat(32)}1`)).toBeDefined();
    expect(after(json, `[\n${" ".repeat(33)}`)).toBeUndefined();
    expect(after(json, "[\n\n")).toBeUndefined();
    expect(after(json, "1".repeat(22))).toBeUndefined();
  });
});
