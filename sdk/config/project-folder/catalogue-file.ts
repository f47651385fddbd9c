import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { DESCRIBED, describeIssue } from "../../schema/describe-issue.ts";
import { type Catalogue, CATALOGUE, catalogueEntry, catalogueFile } from "./catalogue.ts";
import { positionOf } from "./config-document.ts";
import { type Finding, placed } from "./finding.ts";
import { readText } from "./read-text.ts";

const FILE = "catalogue.json";

/** The catalogue with what a folder's own catalogue.json adds: `{ "models": { "me/mine": { "maxRank": 64, ... } } }`. */
export async function folderCatalogue(
  folder: string,
): Promise<{ catalogue: Catalogue; findings: Finding[] }> {
  const path = join(folder, FILE);
  if (!existsSync(path)) return { catalogue: CATALOGUE, findings: [] };
  const { readJson } = await import("./read-json.ts");
  const read = readText(path);
  if ("fault" in read) {
    const remark = { code: "config_syntax" as const, path: [], message: read.fault, hint: "Write JSON." };
    return { catalogue: CATALOGUE, findings: [placed(remark, FILE, undefined)] };
  }
  const document = readJson(read.text, FILE);
  const findings = document.remarks.map((remark) => placed(remark, FILE, remark.position));
  if (document.value === undefined) return { catalogue: CATALOGUE, findings };
  const result = z.safeParse(catalogueFile, document.value, DESCRIBED);
  if (result.success) return { catalogue: { ...CATALOGUE, ...result.data.models }, findings };
  const known = Object.keys(catalogueEntry.shape);
  for (const issue of result.error.issues) {
    for (const { path: at, message } of describeIssue(issue, () => known)) {
      const keys =
        issue.code === "unrecognized_keys" ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path;
      const remark = {
        code: "wrong_type" as const,
        path: keys as string[],
        message,
        hint: `Known of a model: ${known.join(", ")}.`,
      };
      findings.push({ ...placed(remark, FILE, positionOf(document, remark.path)), path: at });
    }
  }
  return { catalogue: CATALOGUE, findings };
}
