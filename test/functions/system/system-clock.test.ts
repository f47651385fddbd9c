import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, it, vi } from "vitest";
import { systemClock } from "../../../functions/system/system-clock.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("tells the time and calls back once", () => {
  vi.useFakeTimers({ now: 1000 });
  const clock = systemClock();
  const called = vi.fn();
  clock.after(50, called);
  const cancel = clock.after(60, called);
  cancel();
  vi.advanceTimersByTime(1000);
  expect(clock.now()).toBe(2000);
  expect(called).toHaveBeenCalledTimes(1);
});

it("does not keep a process alive", async () => {
  const module = new URL("../../../functions/system/system-clock.ts", import.meta.url).href;
  const script = `import { systemClock } from ${JSON.stringify(module)}; systemClock().after(60_000, () => {});`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  expect(await once(child, "exit")).toEqual([0, null]);
});

it("waits where no timer can hold the time, instead of calling at once", () => {
  vi.useFakeTimers();
  const called = vi.fn();
  systemClock().after(2 ** 31, called);
  vi.advanceTimersByTime(60_000);
  expect(called).not.toHaveBeenCalled();
});
