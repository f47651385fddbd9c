import { describe, expect, it } from "vitest";
import { checkChat } from "../../../sdk/chat-options.ts";
import { Dataset } from "../../../sdk/index.ts";
import { filePath } from "../../../sdk/file-path.ts";
import { modelOf } from "../../../sdk/model.ts";
import { typeName } from "../../../sdk/schema/type-name.ts";

describe("what a value is, in words", () => {
  it.each([
    [null, "null"],
    [undefined, "undefined"],
    [[], "an array"],
    [{}, "an object"],
    [1, "a number"],
    [Number.NaN, "NaN"],
    [() => 1, "a function"],
  ])("has its article: %s is %s", (value, name) => {
    expect(typeName(value)).toBe(name);
  });

  it("is told with it wherever a script gives something else", () => {
    const wrong = {} as never;
    expect(() => checkChat(wrong, {})).toThrow("messages: is an object, expected a list");
    expect(() => filePath(wrong, "rewards")).toThrow("not an object.");
    expect(() => modelOf(wrong)).toThrow("Expected a model, not an object.");
    expect(() => Dataset.fromArray([{ a: 1 }], { inputColumn: [] as never })).toThrow(
      "inputColumn: is an array, expected string",
    );
  });
});
