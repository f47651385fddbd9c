import { expect, it } from "vitest";
import { jsonSchemaOf } from "../../../../sdk/config/prime-rl/json-schema.ts";

interface Node {
  properties: Record<string, Node>;
  additionalProperties?: boolean;
  anyOf?: Node[];
  items: Node;
  [key: string]: unknown;
}

it("accepts in an editor what resolves: None, old names, strict tables", () => {
  const schema = jsonSchemaOf("rl") as Node;
  expect(schema.additionalProperties).toBe(false);
  expect(schema.properties.max_steps?.anyOf).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: "integer" }),
      { type: "null" },
      { const: "None" },
    ]),
  );
  const orchestrator = schema.properties.orchestrator?.properties;
  expect(orchestrator?.group_size).toMatchObject({ type: "integer", default: 1, minimum: 1 });
  expect(orchestrator?.rollouts_per_example).toMatchObject({ deprecated: true });
  expect(schema.properties.output_dir?.description).not.toBe("");
});
