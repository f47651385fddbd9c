import { expect, it } from "vitest";
import { zipOf } from "../../../../functions/aws/lambda-isolates/zip.ts";
import { unzip } from "../../../fakes/lambda-invoke/unzip.ts";

it("holds its files, the same bytes for the same files", () => {
  const files = { "index.mjs": "export {};", "müde.txt": "x".repeat(10_000), "empty.txt": "" };
  const zip = zipOf(files);
  const read = Object.fromEntries([...unzip(zip)].map(([name, data]) => [name, data.toString("utf8")]));
  expect(read).toEqual(files);
  expect(zipOf(files).equals(zip)).toBe(true);
  expect(zip.length).toBeLessThan(1_000);
});
