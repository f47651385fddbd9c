// Runs the test suite and ends with the line "N passed, N failed" (and ", N skipped" if any were).
//
//   npm test [-- vitest arguments]        the suite, under 6 minutes on two cores
//   npm run test:long                     the slow proofs in test/long
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

const root = join(import.meta.dirname, "..");
const args = process.argv.slice(2);
const long = args.includes("--long");
const rest = args.filter((arg) => arg !== "--long");
const projects = long ? ["long"] : ["unit", "contract", "e2e", "chaos", "browser"];

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
  { cwd: root, stdio: "inherit" },
);
child.on("exit", (code) => {
  process.exitCode = summarize(code ?? 1);
  rmSync(folder, { recursive: true, force: true });
});

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
