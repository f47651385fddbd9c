import { expect, it } from "vitest";
import { entrypointHelp } from "../../../../sdk/cli/commands/rl-help.ts";
import type { Colors } from "../../../../sdk/cli/context.ts";

const plain = new Proxy({} as Colors, { get: () => (text: string) => text });

/** The widest of the lines whose text is wrapped: a flag may be longer than any line. */
function widest(columns?: number): number {
  const lines = entrypointHelp("rl", "trainer.optim", plain, columns);
  return Math.max(...lines.filter((line) => !/^ {2}--\S+( \S+)?$/.test(line)).map((line) => line.length));
}

it("is as wide as the terminal, within reason", () => {
  expect(widest()).toBeGreaterThan(80);
  expect(widest()).toBeLessThanOrEqual(100);
  expect(widest(80)).toBeLessThanOrEqual(80);
  expect(widest(300)).toBe(widest());
  expect(widest(1)).toBe(widest(60));
});
