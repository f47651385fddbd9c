import { expect, it } from "vitest";
import { awake } from "../../../../functions/lambda/host/awake.ts";

/** Timers that keep this process alive. */
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

it("keeps the process alive while it works on an event, and no longer", async () => {
  const before = timers();
  const work = Promise.withResolvers<string>();
  const answer = awake(() => work.promise);
  expect(timers()).toBe(before + 1);
  work.resolve("done");
  expect(await answer).toBe("done");
  expect(timers()).toBe(before);
});

it("lets it end also where the work failed", async () => {
  const before = timers();
  await expect(awake(() => Promise.reject(new Error("out of order")))).rejects.toThrow("out of order");
  await expect(
    awake(() => {
      throw new Error("at once");
    }),
  ).rejects.toThrow("at once");
  expect(timers()).toBe(before);
});
