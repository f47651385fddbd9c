/** Writes the tables of docs/engine.md from the fixtures of the tests: `node scripts/engine-tables.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { engineTables } from "./engine-tables/current.ts";

const path = join(import.meta.dirname, "..", "docs", "engine.md");
const [before, , after] = readFileSync(path, "utf8").split(/<!-- tables(?:: .*?)? -->/);
const note = "<!-- tables: written by node scripts/engine-tables.ts -->";
writeFileSync(path, `${before}${note}\n${engineTables()}\n<!-- tables -->${after}`);
