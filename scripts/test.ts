// Runs the test suite and ends with the line "N passed, N failed" (and ", N skipped" if any were).
//
//   npm test [-- vitest arguments]        the suite, under 6 minutes on two cores
//   npm run test:long                     the slow proofs in test/long, 12 to 15 minutes on two cores
//   npm run test:gpu                      engines on an NVIDIA GPU, where there is one (docs/engines.md)
//   npm run test:long -- --seed N         kill at the same points again
//   npm run test:long -- --minutes N      the time after which no further test begins (default 15)
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numFailedTestSuites: number;
  numPendingTests: number;
  numTodoTests: number;
}

const LONG_MINUTES = 15;

const root = join(import.meta.dirname, "..");
const args = process.argv.slice(2);
const long = args.includes("--long");
const given = valuesOf(args, long ? ["--seed", "--minutes"] : []);
const gpu = args.includes("--gpu");
const rest = given.rest.filter((arg) => arg !== "--long" && arg !== "--gpu");
const environment = {
  // Hundreds of processes load the same files: compiled once, they save a tenth of the suite.
  NODE_COMPILE_CACHE: join(root, ".cache", "compile"),
  ...process.env,
  ...(long ? longEnvironment(given.values) : {}),
};
const suite = ["unit", "infra", "contract", "e2e", "chaos", "browser"];
const projects = long ? ["long"] : gpu ? ["gpu"] : suite;

const folder = mkdtempSync(join(tmpdir(), "spotter-test-"));
const reportFile = join(folder, "report.json");
const child = spawn(
  process.execPath,
  [
    join(root, "node_modules", "vitest", "vitest.mjs"),
    "run",
    ...projects.flatMap((name) => ["--project", name]),
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${reportFile}`,
    ...rest,
  ],
  { cwd: root, stdio: "inherit", env: environment },
);
child.on("exit", (code) => {
  process.exitCode = summarize(code ?? 1);
  rmSync(folder, { recursive: true, force: true });
});

/** Takes options with their value, `--seed 7` or `--seed=7`, out of the arguments that vitest gets. */
function valuesOf(words: readonly string[], names: readonly string[]) {
  const values: Record<string, string> = {};
  const rest: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const [name = "", value] = (words[at] ?? "").split("=", 2);
    if (names.includes(name)) values[name] = value ?? words[++at] ?? "";
    else rest.push(words[at] ?? "");
  }
  return { values, rest };
}

/** One seed for all long tests, told before the first of them, and the time when they must be over. */
function longEnvironment(values: Record<string, string>): Record<string, string> {
  const seed = values["--seed"] ?? (process.env["SPOTTER_CHAOS_SEED"] || String(Date.now() % 2 ** 31));
  const minutes = Number(values["--minutes"] ?? LONG_MINUTES);
  if (!/^\d{1,10}$/.test(seed) || Number(seed) >= 2 ** 31 || !(minutes > 0)) {
    process.stderr.write("--seed takes a whole number below 2^31, --minutes a number above 0.\n");
    process.exit(2);
  }
  process.stdout.write(`seed ${seed}; npm run test:long -- --seed ${seed} draws the same points again\n`);
  return {
    SPOTTER_CHAOS_SEED: seed,
    SPOTTER_LONG_UNTIL_MS: String(Date.now() + minutes * 60_000),
  };
}

function summarize(exitCode: number): number {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(reportFile, "utf8")) as Report;
  } catch {
    process.stdout.write("0 passed, 1 failed\n");
    return exitCode || 1;
  }
  // A file that fails to load counts no failed test, but it is a failure all the same.
  const failed = Math.max(report.numFailedTests, report.numFailedTestSuites > 0 || exitCode !== 0 ? 1 : 0);
  const skipped = report.numPendingTests + report.numTodoTests;
  process.stdout.write(
    `${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
  );
  return failed > 0 ? exitCode || 1 : exitCode;
}
