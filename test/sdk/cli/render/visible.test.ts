import { describe, expect, it } from "vitest";
import { logLineText } from "../../../../sdk/cli/render/log-line.ts";
import { pairs, table } from "../../../../sdk/cli/render/table.ts";
import {
  cellText,
  composed,
  oneLine,
  plainJson,
  printable,
  widthOf,
} from "../../../../sdk/cli/render/visible.ts";

const ESCAPE = "\u001b";

describe("oneLine", () => {
  it.each([
    ["a screen that is cleared", `a${ESCAPE}[2J${ESCAPE}[Hb`, "ab"],
    ["a title that is set", `a${ESCAPE}]0;owned\u0007b`, "ab"],
    ["a second line", "run\nsucceeded", "run\\nsucceeded"],
    ["a return to the line's begin", "run\rok", "run\\u000dok"],
    ["an eight-bit sequence", "a\u009b31mb", "ab"],
    ["a lone escape", `a${ESCAPE}`, "a\\u001b"],
    ["turned direction", "a\u202etxt.exe", "a\\u202etxt.exe"],
    ["nothing of it", "Grüße 你好 😀", "Grüße 你好 😀"],
  ])("disarms %s", (_, text, shown) => {
    expect(oneLine(text)).toBe(shown);
  });
});

describe("printable", () => {
  it("keeps line breaks and tabs, and nothing else that moves", () => {
    expect(printable(`a\r\n\tb${ESCAPE}[1A\u0008`)).toBe("a\n\tb\\u0008");
  });
});

describe("composed", () => {
  it("keeps our colours and line breaks, and disarms the rest", () => {
    const ours = `${ESCAPE}[32mok${ESCAPE}[39m\nnext`;
    expect(composed(ours)).toBe(ours);
    expect(composed(`${ESCAPE}[31mred`)).toBe(`${ESCAPE}[31mred${ESCAPE}[0m`);
    expect(composed(`name${ESCAPE}[2J${ESCAPE}]0;owned\u0007 \u009b1A is ready`)).toBe("name  is ready");
  });
});

describe("plainJson", () => {
  it("means the same, without what a terminal acts upon", () => {
    const value = { name: `a${ESCAPE}[2J\u009b1A\u202e\u2028`, text: "Grüße 😀" };
    const text = plainJson(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
    expect(text).toContain("Grüße 😀");
  });
});

describe("cellText", () => {
  it("keeps our colours and ends them with the cell", () => {
    expect(cellText(`${ESCAPE}[31mx${ESCAPE}[39m`, 9)).toBe(`${ESCAPE}[31mx${ESCAPE}[39m`);
    expect(cellText(`${ESCAPE}[31mx`, 9)).toBe(`${ESCAPE}[31mx${ESCAPE}[0m`);
    expect(cellText(`${ESCAPE}[8mhidden`, 9)).toBe("hidden");
  });

  it("cuts by what is seen", () => {
    expect(cellText("a".repeat(10), 10)).toBe("a".repeat(10));
    expect(cellText("a".repeat(11), 10)).toBe(`${"a".repeat(9)}…`);
    expect(widthOf(cellText("你".repeat(9), 10))).toBe(9);
  });
});

describe("widthOf", () => {
  it.each([
    ["abc", 3],
    ["你好", 4],
    ["😀", 2],
    ["👩‍👩‍👧", 2],
    ["e\u0301", 1],
    [`${ESCAPE}[31mab${ESCAPE}[39m`, 2],
  ])("of %j is %i", (text, width) => {
    expect(widthOf(text)).toBe(width);
  });
});

describe("what others wrote", () => {
  it("stays in its cell", () => {
    const lines = table(
      ["ID", "NAME", "N"],
      [
        ["1", `x${ESCAPE}[2J\ny`, 1],
        ["2", "n".repeat(10_000), 2],
        ["3", "你", 3],
      ],
    );
    expect(lines).toHaveLength(4);
    expect(lines[1]).toContain("x\\ny");
    expect(lines.every((line) => widthOf(line) === 2 + 2 + 80 + 2 + 1)).toBe(true);
  });

  it("does not pass for another name of a pair", () => {
    expect(pairs({ name: "x\nstate  succeeded", state: "failed" })).toEqual([
      "name   x\n       state  succeeded",
      "state  failed",
    ]);
  });

  it("moves nothing from a log", () => {
    expect(logLineText(`plain${ESCAPE}[2J`)).toBe("plain");
    const line = JSON.stringify({ level: "info", message: `a${ESCAPE}]0;t\u0007b` });
    expect(logLineText(line)).toBe("info  ab");
  });
});
