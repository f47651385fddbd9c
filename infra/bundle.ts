import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

/**
 * One ES module of a Lambda entry and all it imports, as text. The same sources give the same text, so a
 * deployment without changes changes nothing.
 */
export function bundle(entry: URL): string {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    platform: "node",
    target: "node22",
    format: "esm",
    minify: true,
    legalComments: "none",
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error(`esbuild made nothing of ${entry.href}.`);
  return file.text;
}
