import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { replaceModel } from "../../../functions/gateway/replace-model.ts";

const replaced = (json: string, model = "endpoint") =>
  Buffer.from(replaceModel(Buffer.from(json), model)).toString();

describe("another model's name in a body", () => {
  it("leaves every other byte as it was", () => {
    const body =
      '{ "seed":12345678901234567890, "messages":[{"model":"no","content":"\\"model\\":\\"x\\" ü"}],\n "model" : "alias" ,"x":1e400}';
    expect(replaced(body)).toBe(body.replace('"alias"', '"endpoint"'));
  });

  it("is put in for every spelling of the key, and for each time it is there", () => {
    expect(replaced('{"mo\\u0064el":"a","model":"b"}')).toBe('{"mo\\u0064el":"endpoint","model":"endpoint"}');
    expect(replaced('{"a":"model","b":["model",{"model":"m"}],"model":"x\\"y"}', 'q"')).toBe(
      '{"a":"model","b":["model",{"model":"m"}],"model":"q\\""}',
    );
  });

  it("is what a parser reads then, whatever else is in the body", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string(),
          fc.json().map((text) => JSON.parse(text) as unknown),
        ),
        fc.string(),
        (rest, name) => {
          const body = JSON.stringify({ ...rest, model: "alias" });
          const expected = JSON.parse(body) as Record<string, unknown>;
          expect(JSON.parse(replaced(body, name))).toEqual({ ...expected, model: name });
        },
      ),
      { numRuns: 200 },
    );
  });
});
