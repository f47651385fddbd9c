/**
 * A Pulumi command line for tests: an executable on the path that writes down how it was called and plays what the
 * test says.
 *
 *   const pulumi = fakePulumi({ up: [{ code: 255, stderr: "error: the stack is currently locked by 1 lock(s)." }, {}] });
 *   await runCli(...);                                   // PATH begins with the fake
 *   pulumi.calls();                                      // [["whoami", "--json"], ["up", "--yes", ...], ...]
 *
 * Outcomes are found by the longest beginning of the arguments that has some; each is played once, the last one for
 * ever. Commands without an outcome succeed with what a fresh, logged-in Pulumi says.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { onTestFinished, vi } from "vitest";

export interface Outcome {
  stdout?: string;
  stderr?: string;
  code?: number;
  /** Runs until it is interrupted, then ends with this code. */
  untilInterrupted?: boolean;
}

export interface FakePulumi {
  /** A project folder with the fake program. */
  folder: string;
  /** How it was called, in order, without the flags that each call has. */
  calls: () => string[][];
  /** The Node that the first call found on its path. */
  path: () => string;
  /** Resolves when a command that begins like this has been called. */
  called: (beginning: string) => Promise<void>;
}

const USUAL: Record<string, Outcome[]> = {
  version: [{ stdout: "v3.265.0\n" }],
  whoami: [{ stdout: '{"user":"ada","url":"https://app.pulumi.com/ada"}' }],
  config: [{ stdout: '{"aws:region":{"value":"eu-central-1","secret":false}}' }],
  "stack ls": [{ stdout: "[]" }],
  "stack output": [{ stdout: "{}" }],
};

const SCRIPT = `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require("node:fs");
const folder = __dirname;
const args = process.argv.slice(2).filter((each) => each !== "--non-interactive");
appendFileSync(folder + "/calls.jsonl", JSON.stringify(args) + "\\n");
if (!existsSync(folder + "/path")) writeFileSync(folder + "/path", process.env.PATH);
const outcomes = JSON.parse(readFileSync(folder + "/outcomes.json", "utf8"));
let key;
for (let words = args.length; words > 0 && key === undefined; words--) {
  const beginning = args.slice(0, words).join(" ");
  if (outcomes[beginning] !== undefined) key = beginning;
}
const left = outcomes[key] ?? [{}];
const outcome = left.length > 1 ? left.shift() : left[0];
writeFileSync(folder + "/outcomes.json", JSON.stringify(outcomes));
process.stdout.write(outcome.stdout ?? "");
process.stderr.write(outcome.stderr ?? "");
process.exitCode = outcome.code ?? 0;
if (outcome.untilInterrupted) {
  const alive = setInterval(() => {}, 1000);
  process.on("SIGINT", () => {
    appendFileSync(folder + "/calls.jsonl", JSON.stringify(["(interrupted)"]) + "\\n");
    clearInterval(alive);
  });
}
`;

/** Plan that the fake program comes to. */
export const PLAN = {
  removal: "retain",
  gateway: "fargate",
  gpuClasses: [
    { name: "L4:1", instanceTypes: ["g6.xlarge"], vCpus: 4, maxInstances: 2, atOnce: 1, spot: true },
  ],
  maxCpuTasks: 8,
  idleCosts: [
    { what: "load balancer", monthlyUsd: 16.43 },
    { what: "gateway", monthlyUsd: 18.07 },
  ],
};

/** @param plan What infra/preflight.ts answers: a plan, or findings. */
export function fakePulumi(
  outcomes: Record<string, Outcome[]> = {},
  plan: object = { plan: PLAN },
): FakePulumi {
  const folder = mkdtempSync(join(tmpdir(), "spotter-pulumi-"));
  const project = join(folder, "project");
  mkdirSync(join(project, "infra"), { recursive: true });
  writeFileSync(join(project, "Pulumi.yaml"), "name: spotter\n");
  writeFileSync(
    join(project, "infra", "preflight.ts"),
    `console.log(${JSON.stringify(JSON.stringify(plan))});\n`,
  );
  writeFileSync(join(folder, "outcomes.json"), JSON.stringify({ ...USUAL, ...outcomes }));
  writeFileSync(join(folder, "pulumi"), SCRIPT);
  chmodSync(join(folder, "pulumi"), 0o755);
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env["PATH"]}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  const calls = () => {
    const file = join(folder, "calls.jsonl");
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as string[]);
  };
  return {
    folder: project,
    calls,
    path: () => readFileSync(join(folder, "path"), "utf8"),
    called: (beginning) =>
      vi.waitFor(
        () => {
          if (!calls().some((each) => each.join(" ").startsWith(beginning)))
            throw new Error(`no ${beginning} yet`);
        },
        { timeout: 10_000, interval: 10 },
      ),
  };
}
