import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ERROR_CODES, type ErrorCode } from "../../../sdk/schema/error-codes.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";

const KIND_OF_SECTION = {
  "What was asked for": "user",
  Capacity: "capacity",
  Cancelled: "cancelled",
  Failures: "system",
} as const;

interface Row {
  code: string;
  kind: string | undefined;
  status: number;
  remedy: string;
}

function rows(): Row[] {
  let kind: string | undefined;
  return readFileSync("docs/errors.md", "utf8")
    .split("\n")
    .flatMap((line) => {
      const section = /^## (.*)/.exec(line)?.[1];
      if (section !== undefined) kind = KIND_OF_SECTION[section as keyof typeof KIND_OF_SECTION];
      const match = /^\| `(\w+)` \| (\d{3}) \| (.+) \| (.+) \|$/.exec(line);
      return match ? [{ code: match[1] ?? "", kind, status: Number(match[2]), remedy: match[4] ?? "" }] : [];
    });
}

describe("docs/errors.md", () => {
  it("explains every code once, under its kind, with its status", () => {
    const written = rows().map(({ code, kind, status }) => ({ code, kind, status }));
    const actual = Object.entries(ERROR_CODES).map(([code, kind]) => {
      return { code, kind, status: new SpotterError(code as ErrorCode, "").status };
    });
    const byCode = (a: { code: string }, b: { code: string }) => a.code.localeCompare(b.code);
    expect(written.sort(byCode)).toEqual(actual.sort(byCode));
  });

  it("says what to do about each", () => {
    expect(rows().filter(({ remedy }) => remedy.trim().length < 8)).toEqual([]);
  });
});
