import type { Command } from "commander";
import type { Check } from "../aws/checks.ts";
import { examine, type Examined } from "../aws/examine.ts";
import { projectFolder, usualFolder } from "../aws/plan.ts";
import { stackName, STACK_OPTION } from "../aws/stack-name.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { Told } from "../told.ts";
import { verb } from "../verb.ts";

interface Options {
  stack: string;
  region?: string;
  dir?: string;
  json?: boolean;
}

export function doctorCommand(context: CliContext): Command {
  return verb("doctor", "Say what stands between this account and a stack on AWS; changes nothing", [
    "spotter doctor",
    "spotter doctor --stack dev --region eu-central-1 --json",
  ])
    .option(...STACK_OPTION)
    .option(
      "--region <region>",
      "where it would be (default: that of the stack, AWS_REGION, or your AWS profile)",
    )
    .option("-d, --dir <folder>", "clone with the Pulumi program (default: here)")
    .action(async ({ json, ...options }: Options) => {
      const examined = await examine({
        stack: stackName(options.stack),
        // Where npm installed us there is an account to look at, and nothing to deploy from.
        folder: options.dir === undefined ? usualFolder() : projectFolder(options.dir),
        region: options.region,
      });
      if (json) printJson(context, reportOf(examined));
      else printChecks(context, examined.checks);
      if (examined.checks.some(({ status }) => status === "failed")) throw new Told(1);
    });
}

/** What `--json` prints. */
export function reportOf({ checks, region, plan }: Examined) {
  return {
    ok: checks.every(({ status }) => status !== "failed"),
    region: region ?? null,
    checks,
    plan: plan ?? null,
  };
}

export function printChecks(context: CliContext, checks: readonly Check[]): void {
  const { green, yellow, red, bold, dim } = context.colors;
  const marks = { ok: green("ok     "), warning: yellow("warning"), failed: red("failed ") };
  for (const { check, status, message, remedy } of checks) {
    print(context, `${marks[status]} ${bold(check.padEnd(11))} ${message}`);
    if (remedy !== undefined) print(context, `${" ".repeat(20)}${dim(context.hint(remedy))}`);
  }
  const failed = checks.filter(({ status }) => status === "failed").length;
  const warned = checks.filter(({ status }) => status === "warning").length;
  print(context, `${checks.length} checks: ${failed} failed, ${warned} with a warning.`);
}
