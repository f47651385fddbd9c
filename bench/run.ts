/**
 * Runs one benchmark and prints its figures: `npm run bench -- NAME [--json]`.
 *
 * With `--json` the last line is one JSON object. A figure that could not be measured is null and `notes`
 * says why. Every number in the README comes from here.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pc from "picocolors";
import type { Bench, FigureRow, Figures } from "./figures.ts";

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
  const single = Object.entries(rest).flatMap(([key, value]) =>
    isTable(value) ? [] : [[key, shown(value)]],
  );
  const width = Math.max(0, ...single.map(([key]) => key?.length ?? 0));
  for (const [key, value] of single) process.stdout.write(`  ${key?.padEnd(width)}  ${value}\n`);
  for (const [key, value] of Object.entries(rest)) if (isTable(value)) printTable(key, value);
  for (const note of notes) process.stdout.write(`${pc.yellow("note")} ${note}\n`);
}

function printTable(title: string, rows: FigureRow[]): void {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => shown(row[name])))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  process.stdout.write(`\n${title}\n`);
  for (const line of lines)
    process.stdout.write(`  ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}\n`);
}

function isTable(value: Figures[string]): value is FigureRow[] {
  return Array.isArray(value) && value.some((row) => typeof row === "object");
}

function shown(value: Exclude<Figures[string], FigureRow[]>): string {
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value ?? "not measured");
}
