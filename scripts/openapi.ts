/**
 * Writes openapi.json from the routes and their schemas: `npm run openapi`. `--check` only compares and
 * fails when the file is not current.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { currentOpenApi } from "./openapi/current.ts";

const path = join(import.meta.dirname, "..", "openapi.json");
const text = currentOpenApi();
if (!process.argv.includes("--check")) writeFileSync(path, text);
else if (readFileSync(path, "utf8") !== text) {
  console.error("openapi.json is not current; run `npm run openapi`.");
  process.exitCode = 1;
}
