// Compiles what passes over plain rows of train.jsonl (sdk/config/project-folder/plain-rows) to WebAssembly.
import asc from "assemblyscript/asc";
import { join, relative } from "node:path";

/** Two pages for tables and what is read beyond the chunk, and the chunk of sdk/config/project-folder/line-scan.ts. */
const PAGES = 2 + 16;

export async function compileRows(root, dist) {
  const folder = join("sdk", "config", "project-folder");
  const options = {
    baseDir: root,
    outFile: join(relative(root, dist), folder, "plain-rows.wasm"),
    runtime: "stub",
    initialMemory: PAGES,
    maximumMemory: PAGES,
    optimizeLevel: 3,
    noAssert: true,
  };
  const words = Object.entries(options).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, String(value)],
  );
  const { error, stderr } = await asc.main([
    join(folder, "plain-rows", "scan.ts"),
    "--enable",
    "simd",
    ...words,
  ]);
  if (error) throw new Error(`${stderr.toString()}\n${error.message}`);
}
