import { expect, it } from "vitest";
import { lifetimeMs } from "../../../functions/cost/lifetime.ts";

const HOUR = 3_600_000;
const GRACE = 600_000;

it.each([
  ["nothing limits it", {}, undefined],
  ["its home does", { longestMs: 5 * HOUR }, 5 * HOUR],
  ["its owner's time does, with time to save", { longestMs: 5 * HOUR, leftMs: HOUR }, HOUR + GRACE],
  ["its owner's time is over already", { leftMs: -HOUR }, GRACE],
  ["its budget does, with a tenth to save", { usdLeft: 2 }, 66 * 60_000],
  ["its budget does, with ten minutes at most", { longestMs: 5 * HOUR, usdLeft: 4 }, 2 * HOUR + GRACE],
  ["its budget is spent: it lives long enough to be told", { usdLeft: 0 }, 120_000],
  ["it costs nothing", { usdLeft: 0, hourlyUsd: 0 }, undefined],
])("ends a container by itself when %s", (_name, given, expected) => {
  expect(lifetimeMs({ longestMs: undefined, hourlyUsd: 2, ...given })).toBe(expected);
});
