/**
 * Runs one benchmark and prints its figures: `npm run bench -- NAME [--json]`.
 *
 * With `--json` the last line is one JSON object. A figure that could not be measured is null and `notes`
 * says why. Every number in the README comes from here.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pc from "picocolors";
import type { Bench, Figures } from "./figures.ts";

const HELPERS = new Set(["run", "figures"]);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -3))
  .filter((name) => !HELPERS.has(name));

const args = process.argv.slice(2);
const name = args.find((arg) => !arg.startsWith("-"));
const json = args.includes("--json");

if (name === undefined || !names.includes(name) || !existsSync(join(import.meta.dirname, `${name}.ts`))) {
  process.stderr.write(`Usage: npm run bench -- NAME [--json]\nNAME is one of: ${names.join(", ")}\n`);
  process.exit(2);
}

const { run } = (await import(`./${name}.ts`)) as Bench;
const figures = await run((line) => process.stderr.write(`${pc.dim(line)}\n`));
if (json) process.stdout.write(`${JSON.stringify(figures)}\n`);
else print(figures);

function print(all: Figures): void {
  const { notes = [], ...rest } = all;
  const width = Math.max(...Object.keys(rest).map((key) => key.length));
  for (const [key, value] of Object.entries(rest)) {
    const shown =
      typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value ?? "not measured");
    process.stdout.write(`  ${key.padEnd(width)}  ${shown}\n`);
  }
  for (const note of notes) process.stdout.write(`${pc.yellow("note")} ${note}\n`);
}
