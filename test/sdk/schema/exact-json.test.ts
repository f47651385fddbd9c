import { describe, expect, it } from "vitest";
import { parseExactly } from "../../../sdk/schema/exact-json.ts";

describe("parseExactly", () => {
  it.each([
    '{"id":12345678901234567891,"list":[-90071992547409931,1]}',
    '{"deep":{"a":[{"b":18446744073709551615}]}}',
    "[123456789012345678901234567890]",
    '{"text":"12345678901234567891"}',
  ])("keeps every digit of %s", (text) => {
    expect(JSON.stringify(parseExactly(text))).toBe(text);
  });

  it("is JSON.parse for what JavaScript holds", () => {
    const text = '{"a":9007199254740992,"b":1.5,"c":1e300,"d":0.12345678901234567,"e":"x","f":[true,null]}';
    expect(parseExactly(text)).toEqual(JSON.parse(text));
    expect(() => parseExactly('{"a":12345678901234567891')).toThrow(SyntaxError);
  });
});
