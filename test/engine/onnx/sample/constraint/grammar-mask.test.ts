import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AcceptorState } from "../../../../../engine/onnx/sample/constraint/acceptor.ts";
import type { Grammar } from "../../../../../engine/onnx/sample/constraint/grammar.ts";
import { GrammarMask, GrammarMasks } from "../../../../../engine/onnx/sample/constraint/grammar-mask.ts";
import { JSON_RULES } from "../../../../../engine/onnx/sample/constraint/json-grammar.ts";
import { Vocabulary } from "../../../../../engine/onnx/sample/constraint/vocabulary.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const json: Grammar = { root: { rule: "object" }, rules: JSON_RULES };

/** Ids of a row's allowed tokens. */
function allowed(mask: GrammarMask, size: number): number[] {
  const row = mask.apply(new Float32Array(size).fill(1 / size));
  return [...row.keys()].filter((id) => (row[id] ?? 0) > 0);
}

describe("GrammarMask", () => {
  const letters = fc.constantFrom(...'{}[]":, ab1\\\n', "é", "\u0000");
  const tokens = fc.uniqueArray(fc.string({ unit: letters, minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 60,
  });

  it("allows exactly the tokens that a JSON text can go on with", () => {
    const text = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify({ a: value }));
    fc.assert(
      fc.property(tokens, text, fc.nat(), (vocabulary, whole, cut) => {
        const masks = new GrammarMasks(json, new Vocabulary(vocabulary.map(bytes)));
        const { acceptor } = masks;
        const walk = (from: AcceptorState | undefined, said: string): AcceptorState | undefined => {
          let at = from;
          for (const byte of bytes(said)) at = at && acceptor.next(at, byte);
          return at;
        };
        const place = walk(acceptor.start, whole.slice(0, cut % whole.length));
        if (place === undefined) throw new Error("every beginning of JSON goes on");
        const mask = masks.allowedAt(place, vocabulary.length);
        for (const [id, token] of vocabulary.entries()) {
          const isAllowed = ((mask[id >> 3] ?? 0) & (1 << (id & 7))) !== 0;
          expect(isAllowed).toBe(walk(place, token) !== undefined);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("shares the chance of what may not come, and leaves the row as it was", () => {
    const vocabulary = new Vocabulary(["{", "x", "[", " "].map(bytes));
    const mask = new GrammarMask(new GrammarMasks(json, vocabulary), []);
    const row = Float32Array.of(0.25, 0.5, 0.125, 0.125);
    expect([...mask.apply(row)]).toEqual([1, 0, 0, 0]);
    expect([...row]).toEqual([0.25, 0.5, 0.125, 0.125]);
  });

  it("takes any token that may come where none has a chance", () => {
    const vocabulary = new Vocabulary(["{", "x", "{}"].map(bytes));
    const mask = new GrammarMask(new GrammarMasks(json, vocabulary), []);
    expect([...mask.apply(Float32Array.of(0, 1, 0))]).toEqual([0.5, 0, 0.5]);
  });

  it("lets a stop token come at the end only, even if it is text", () => {
    const vocabulary = new Vocabulary(["{", '"', "a", "}", ":1", "a"].map(bytes));
    const mask = new GrammarMask(new GrammarMasks(json, vocabulary), [5, 99]);
    for (const id of [0, 1]) mask.take(id);
    // Within a string, all that is text; 5 would end the answer.
    expect(allowed(mask, 6)).toEqual([0, 1, 2, 3, 4]);
    for (const id of [2, 1, 4]) mask.take(id);
    expect(mask.complete).toBe(false);
    mask.take(3);
    expect(mask.complete).toBe(true);
    expect(allowed(mask, 6)).toEqual([5]);
  });

  it("says so when no token can go on", () => {
    const mask = new GrammarMask(new GrammarMasks(json, new Vocabulary([bytes("x")])), [0]);
    expect(() => mask.apply(Float32Array.of(1))).toThrowError(
      expect.objectContaining({ code: "engine_failed" }) as Error,
    );
  });

  it("leaves out control tokens, which write nothing, and ids without one", () => {
    const vocabulary = new Vocabulary([undefined, bytes("{"), new Uint8Array()]);
    const mask = new GrammarMask(new GrammarMasks(json, vocabulary), []);
    expect(allowed(mask, 9)).toEqual([1]);
  });
});
