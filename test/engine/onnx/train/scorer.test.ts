import { describe, expect, it } from "vitest";
import { randomPolicy } from "../../../../engine/onnx/train/init.ts";
import { Scorer } from "../../../../engine/onnx/train/scorer.ts";
import { expectError } from "../support/errors.ts";
import { tinyConfig } from "../support/tiny.ts";

const params = { threads: 1, maxPositions: 64 };

describe("scoring", () => {
  it("is the same alone and among others, first token 0, order kept", async () => {
    const scorer = new Scorer(randomPolicy(tinyConfig, 1), params);
    const sequences = [[3, 17, 8], [5], [12, 1, 39, 7, 22, 6], []];
    const together = await scorer.score(sequences, 0.8);
    expect(together.map((row) => row.length)).toEqual([3, 1, 6, 0]);
    expect(together.map((row) => row[0])).toEqual([0, 0, 0, undefined]);
    for (const [index, ids] of sequences.entries()) {
      const [alone] = await scorer.score([ids], 0.8);
      for (const [position, logprob] of (alone ?? []).entries()) {
        expect(together[index]?.[position]).toBeCloseTo(logprob, 5);
        if (position > 0) expect(logprob).toBeLessThan(0);
      }
    }
    await scorer.close();
  });

  it("uses other parameters where it is told to, without touching the policy's", async () => {
    const policy = randomPolicy(tinyConfig, 1);
    const scorer = new Scorer(policy, params);
    const before = await scorer.score([[3, 17, 8]], 1);
    const other = randomPolicy(tinyConfig, 2);
    const theirs = await scorer.score([[3, 17, 8]], 1, other.parameters);
    expect(theirs).not.toEqual(before);
    const direct = new Scorer(other, params);
    expect(await direct.score([[3, 17, 8]], 1)).toEqual(theirs);
    expect(await scorer.score([[3, 17, 8]], 1)).toEqual(before);
    await direct.close();
    await scorer.close();
  });

  it("names what does not fit", async () => {
    const scorer = new Scorer(randomPolicy(tinyConfig, 1), params);
    await expectError(() => scorer.score([[1], [2, 40]], 1), "invalid_input", "sequences[1]", "40");
    await expectError(() => scorer.score([[1, 2]], 0), "invalid_input", "temperature");
    const long = Array<number>(65).fill(1);
    await expectError(() => scorer.score([long], 1), "context_length_exceeded", "65 tokens");
    await scorer.close();
  });
});
