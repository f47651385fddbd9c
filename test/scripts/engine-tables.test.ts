import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { engineTables } from "../../scripts/engine-tables/current.ts";

it("docs/engine.md has the tables that the fixtures of the tests make (else: node scripts/engine-tables.ts)", () => {
  expect(readFileSync("docs/engine.md", "utf8")).toContain(engineTables());
});
