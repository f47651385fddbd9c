import fc from "fast-check";
import { expect, it } from "vitest";
import { documentSequences, documentTokens } from "../../../engine/training/documents.ts";

const END = 0;
const ids = fc.array(fc.integer({ min: 1, max: 99 }), { maxLength: 12 });

it("learns every token of every text once, in order, and nothing else", () => {
  fc.assert(
    fc.property(
      fc.array(ids, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 2, max: 9 }),
      (texts, length) => {
        const sequences = documentSequences(texts, { end: END, length });
        const learnt = sequences.flatMap(({ ids: all, mask }) => all.filter((_, at) => mask[at] === 1));
        expect(learnt).toEqual(texts.flatMap((text) => [...text, END]));
        sequences.forEach(({ ids: all, mask, advantages }, index) => {
          expect(all.length).toBeLessThanOrEqual(length);
          expect(mask[0]).toBe(0);
          expect(advantages).toEqual(mask);
          // What predicts its first token stands before it.
          expect(all[0]).toBe(index === 0 ? END : sequences[index - 1]?.ids.at(-1));
        });
      },
    ),
  );
});

it("is cut to what was asked for, at most to what the model takes, and not to a model's hundred thousands", () => {
  expect(documentTokens({ contextTokens: 256 }, { contextLength: 512 })).toBe(256);
  expect(documentTokens({ contextTokens: 1024 }, { contextLength: 512 })).toBe(512);
  expect(documentTokens({}, { contextLength: 131_072 })).toBe(1024);
});
