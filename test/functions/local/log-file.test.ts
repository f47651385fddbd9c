import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { expect, it, onTestFinished, vi } from "vitest";
import { openLogFile } from "../../../functions/local/log-file.ts";
import { useFolder } from "./use-folder.ts";

const folder = useFolder();

it("appends to a private file and begins a new one when it is large", () => {
  const path = folder("deep", "daemon.log");
  const first = openLogFile(path, 20);
  first.write("a line of 20 chars..\n");
  first.close();
  first.write("after the end\n");
  const second = openLogFile(path, 20);
  second.write("next\n");
  second.close();
  expect(readFileSync(`${path}.1`, "utf8")).toBe("a line of 20 chars..\n");
  expect(readFileSync(path, "utf8")).toBe("next\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it("writes what comes at the same moment together, soon after", async () => {
  const path = folder("turns", "daemon.log");
  const file = openLogFile(path);
  file.write("first\n");
  file.write("second\n");
  expect(statSync(path).size).toBe(0);
  await vi.waitFor(() => expect(readFileSync(path, "utf8")).toBe("first\nsecond\n"));
  const listeners = process.listenerCount("exit");
  file.close();
  expect(process.listenerCount("exit")).toBe(listeners - 1);
});

it("outlives a log that cannot be written, and says afterwards that lines are missing", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const nextTurn = () => vi.advanceTimersByTimeAsync(1_000);
  const path = folder("full", "daemon.log");
  const file = openLogFile(path, 5);
  file.write("first line\n");
  await nextTurn();
  // What the log would be renamed to is a folder: every later write fails.
  mkdirSync(`${path}.1`);
  for (const line of ["second\n", "third\n"]) {
    file.write(line);
    await nextTurn();
  }
  rmSync(`${path}.1`, { recursive: true });
  file.write("fourth\n");
  file.close();
  const lines = readFileSync(path, "utf8").trim().split("\n");
  expect(lines[0]).toContain("writes to this log failed");
  expect(lines.at(-1)).toBe("fourth");
});
