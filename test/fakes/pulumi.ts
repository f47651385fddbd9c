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
  "config get aws:region": [{ stdout: "eu-central-1\n" }],
  "stack ls": [{ stdout: "[]" }],
  "stack output": [{ stdout: "{}" }],
};

/** A shell starts in a few milliseconds; a command of ours calls Pulumi a dozen times. */
const SCRIPT = `#!/bin/sh
dir=\${0%/*}
line= key= best=other
for word in "$@"; do
  [ "$word" = --non-interactive ] && continue
  line="$line\t$word"
  key="$key\${key:+ }$word"
  [ -d "$dir/outcomes/$key" ] && best=$key
done
printf '%s\n' "$line" >> "$dir/calls"
[ -e "$dir/path" ] || printf '%s' "$PATH" > "$dir/path"
own="$dir/outcomes/$best"
read -r at < "$own/at"
read -r code < "$own/$at.code"
[ -e "$own/$((at + 1)).code" ] && echo $((at + 1)) > "$own/at"
[ -s "$own/$at.stdout" ] && cat "$own/$at.stdout"
[ -s "$own/$at.stderr" ] && cat "$own/$at.stderr" >&2
if [ -e "$own/$at.waits" ]; then
  trap 'printf "\t(interrupted)\n" >> "$dir/calls"; exit $code' INT
  printf '\t(waiting)\n' >> "$dir/calls"
  while :; do sleep 0.02; done
fi
exit $code
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
  for (const [beginning, all] of Object.entries({ other: [{}], ...USUAL, ...outcomes }))
    writeOutcomes(join(folder, "outcomes", beginning), all);
  writeFileSync(join(folder, "pulumi"), SCRIPT);
  chmodSync(join(folder, "pulumi"), 0o755);
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env["PATH"]}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  const calls = () => {
    const file = join(folder, "calls");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    return lines.map((line) => line.split("\t").slice(1));
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

function writeOutcomes(folder: string, outcomes: readonly Outcome[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "at"), "0\n");
  outcomes.forEach(({ stdout = "", stderr = "", code = 0, untilInterrupted = false }, index) => {
    const files = { stdout, stderr, code: `${code}\n`, ...(untilInterrupted && { waits: "" }) };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${index}.${name}`), text);
  });
}
