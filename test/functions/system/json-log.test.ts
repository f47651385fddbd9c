import { expect, it } from "vitest";
import { createJsonLog, type JsonLogOptions } from "../../../functions/system/json-log.ts";
import { createRedactor } from "../../../functions/secrets/redactor.ts";

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
