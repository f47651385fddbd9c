import { describe, expect, it } from "vitest";
import { CONFIG_HELP } from "../../../../sdk/config/project-folder/config-help.ts";
import { projectConfig } from "../../../../sdk/config/project-folder/config-schema.ts";
import { configJsonSchema } from "../../../../sdk/config/project-folder/json-schema.ts";
import { allPaths, schemaNode } from "../../../../sdk/config/project-folder/schema-node.ts";

describe("the JSON Schema of config.yml", () => {
  it("says when to distil (A58)", () => {
    const { properties } = configJsonSchema();
    const text = `${String(properties?.["teacher"]?.description)}`;
    for (const reason of ["reasoning of a large model", "cheaper", "its own mistakes"])
      expect(text).toContain(reason);
  });

  it("comes from the schema that checks, with every key explained", () => {
    const paths = allPaths(schemaNode(projectConfig)).map((path) => path.join("."));
    expect(Object.keys(CONFIG_HELP).sort()).toEqual([...new Set(paths)].sort());
    expect(configJsonSchema()).toMatchObject({
      type: "object",
      additionalProperties: false,
      required: ["dataset_type", "data", "model", "trainer"],
      properties: {
        dataset_type: { enum: ["rl", "sft", "distill", "midtrain"] },
        data: {
          properties: {
            batch_size: {
              type: "integer",
              minimum: 1,
              maximum: 32,
              description: CONFIG_HELP["data.batch_size"],
            },
          },
        },
        trainer: { properties: { save_step: { default: -1, minimum: -1 } } },
      },
    });
    const text = JSON.stringify(configJsonSchema());
    for (const help of Object.values(CONFIG_HELP)) expect(text).toContain(JSON.stringify(help).slice(1, -1));
  });
});
