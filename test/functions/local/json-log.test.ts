import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { expect, it, onTestFinished, vi } from "vitest";
import { createJsonLog, openLogFile, type JsonLogOptions } from "../../../functions/local/json-log.ts";
import { createRedactor } from "../../../functions/secrets/redactor.ts";
import { useFolder } from "./use-folder.ts";

const folder = useFolder();

function capture(options: Partial<JsonLogOptions> = {}) {
  const lines: string[] = [];
  const log = createJsonLog({ clock: { now: () => 0 }, write: (line) => lines.push(line), ...options });
  return { log, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>), lines };
}

it("writes one object a line, with its fields", () => {
  const { log, parsed, lines } = capture();
  log.info("started", { port: 7717, level: "mine" });
  log.error("two\nlines");
  expect(parsed()).toEqual([
    { port: 7717, time: "1970-01-01T00:00:00.000Z", level: "info", message: "started" },
    { time: "1970-01-01T00:00:00.000Z", level: "error", message: "two\nlines" },
  ]);
  expect(lines.every((line) => line.endsWith("}\n") && line.indexOf("\n") === line.length - 1)).toBe(true);
});

it("leaves out what is below its level", () => {
  const { log, parsed } = capture({ level: "warn" });
  for (const level of ["debug", "info", "warn", "error"] as const) log[level](level);
  expect(parsed().map((line) => line["message"])).toEqual(["warn", "error"]);
  expect(capture().log.debug("hidden by default")).toBeUndefined();
});

it("tells an error with its cause, code and stack", () => {
  const { log, parsed } = capture();
  log.warn("failed", {
    error: Object.assign(new Error("outer", { cause: new Error("inner") }), { code: "E1" }),
  });
  expect(parsed()[0]?.["error"]).toMatchObject({
    message: "outer",
    code: "E1",
    stack: expect.stringContaining("json-log.test") as string,
    cause: { message: "inner" },
  });
});

it("does not fail for what JSON cannot hold", () => {
  const circular: Record<string, unknown> = { big: 10n };
  const { log, parsed } = capture();
  log.info("big", circular);
  circular["self"] = circular;
  log.info("circular", circular);
  expect(parsed()[0]).toMatchObject({ big: "10" });
  expect(parsed()[1]).toMatchObject({
    message: "circular",
    unloggable: expect.stringContaining("circular") as string,
  });
});

it("hides secrets in messages, fields and errors", () => {
  const { log, lines } = capture({ redact: createRedactor(['sec"ret']).redact });
  log.info('the sec"ret', { deep: { list: ['sec"ret'] }, error: new Error('sec"ret') });
  expect(lines[0]).not.toContain("sec");
  expect(lines[0]?.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(4);
});

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
