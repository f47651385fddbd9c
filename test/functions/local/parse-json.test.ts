import { expect, it } from "vitest";
import { parseJson } from "../../../functions/local/parse-json.ts";

it.each([
  ['{"a":[1]}', { a: [1] }],
  ["null", null],
  ["", undefined],
  ['{"a":', undefined],
  ["undefined", undefined],
])("%j is read, or is none", (text, value) => expect(parseJson(text)).toEqual(value));
