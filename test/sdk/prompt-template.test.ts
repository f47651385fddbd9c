import { describe, expect, it } from "vitest";
import { columnText, fillTemplate } from "../../sdk/prompt-template.ts";

describe("fillTemplate", () => {
  it("fills the input and other columns, and unescapes doubled braces", () => {
    const row = { q: "2 + 2", level: 3, tags: ["a"] };
    expect(fillTemplate('{input} {level} {tags} {{"x"}} {}', row, "q")).toBe('2 + 2 3 ["a"] {"x"} {}');
  });

  it("leaves the braces of JSON and of other text alone", () => {
    const row = { q: "x", "my column": "y" };
    const text = 'Answer as {"a": {"b": 1}} or { x }, {1}, {}, }} {';
    expect(fillTemplate(text, row, "q")).toBe(text);
    expect(fillTemplate('{my column} {{{input}}} \\boxed{{answer}} {"a": {"b": {}}}', row, "q")).toBe(
      'y {x} \\boxed{answer} {"a": {"b": {}}}',
    );
    expect(() => fillTemplate("\\boxed{answer}", row, "q")).toThrow('no column "answer"');
  });

  it("does not fill what a value brings along", () => {
    expect(fillTemplate("{input}", { q: "{secret} $&", secret: "no" }, "q")).toBe("{secret} $&");
  });

  it("refuses names that are no column of the row itself", () => {
    expect(() => fillTemplate("{inptu}", { input: "x" }, undefined)).toThrow('did you mean "input"?');
    expect(() => fillTemplate("{toString}", { a: 1 }, undefined)).toThrow(
      'no column "toString"; its columns: a',
    );
  });
});

describe("columnText", () => {
  it("keeps text as it is", () => {
    expect(columnText({ a: "", b: false, c: 0 }, "a")).toBe("");
    expect(columnText({ a: "", b: false, c: 0 }, "b")).toBe("false");
  });
});
