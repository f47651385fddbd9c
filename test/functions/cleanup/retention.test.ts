import { expect, it } from "vitest";
import { expiredSteps } from "../../../functions/cleanup/retention.ts";

const saved = [10, 20, 30, 40, 50].map((step) => ({ step, pinned: false }));

it.each([
  ["keeps all where nothing is said", {}, false, []],
  ["keeps the newest so many", { keepLast: 2 }, false, [10, 20, 30]],
  ["keeps every so many steps, and the last", { keepEvery: 20 }, false, [10, 30]],
  ["keeps what either of both keeps", { keepLast: 1, keepEvery: 40 }, false, [10, 20, 30]],
  ["keeps none of an ended run if none is asked for", { keepLast: 0 }, false, [10, 20, 30, 40, 50]],
  ["keeps the last one of a run that goes on in any case", { keepLast: 0 }, true, [10, 20, 30, 40]],
])("%s", (_name, rule, isLive, expired) => {
  expect(expiredSteps(saved, rule, isLive)).toEqual(expired);
});

it("keeps pinned ones and does not count them", () => {
  const pinned = saved.map(({ step }) => ({ step, pinned: step === 50 || step === 10 }));
  expect(expiredSteps(pinned, { keepLast: 1 }, false)).toEqual([20, 30]);
});
