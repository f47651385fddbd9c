import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import { plainRecord } from "../../../../sdk/schema/engines/plain-record.ts";
import { slimeSettings } from "../../../../sdk/schema/engines/slime-settings.ts";
import { vllmSettings } from "../../../../sdk/schema/engines/vllm-settings.ts";

const faults = (schema: z.ZodMiniType, text: string) =>
  z.safeParse(schema, JSON.parse(text)).error?.issues.map(({ message }) => message) ?? [];

describe("documents of engines", () => {
  const schema = plainRecord(z.unknown());

  it("are kept as they are, with values of their kind", () => {
    const text = '{"a":{"constructor":[1,{"toString":null}]}}';
    expect(JSON.stringify(schema.parse(JSON.parse(text)))).toBe(text);
    expect(faults(schema, "[1]")).toHaveLength(1);
    expect(faults(plainRecord(z.number()), '{"a":"b"}')).toHaveLength(1);
  });

  it.each(['{"__proto__":1}', '{"a":[{"__proto__":{}}]}'])("are refused where copies would lose %s", (text) =>
    expect(faults(schema, text)).toEqual(["has a key __proto__, which is no name of a setting"]),
  );

  it("are refused where they are deeper than anything reads", () =>
    expect(faults(schema, `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`)).toEqual([
      "is nested too deeply",
    ]));

  it("are refused at once where they hold themselves", () => {
    const own: Record<string, unknown> = {};
    Object.assign(own, { a: own, b: own, c: { own } });
    expect(schema.safeParse(own).error?.issues).toMatchObject([{ message: "is nested too deeply" }]);
  });

  it("are all that users write as such", () => {
    for (const name of ["customConfig", "evalConfig", "sglangConfig", "flags"])
      expect(faults(slimeSettings, `{"${name}":{"__proto__":1}}`)).toHaveLength(1);
    expect(faults(vllmSettings, '{"flags":{"__proto__":1}}')).toHaveLength(1);
  });
});
