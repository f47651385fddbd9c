import type { Command } from "commander";
import type { BootstrappedKey } from "../../schema/key-bootstrap.ts";
import { bootstrapKey } from "../aws/bootstrap-key.ts";
import { stackName, STACK_OPTION } from "../aws/stack-name.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { verb } from "../verb.ts";

interface Options {
  stack: string;
  region?: string;
  name?: string;
  force?: boolean;
  json?: boolean;
}

export function keyBootstrapCommand(context: CliContext): Command {
  return verb("bootstrap", "Make the first key of a stack on AWS, with your AWS credentials", [
    'eval "$(spotter key bootstrap --stack dev --region eu-central-1)"',
    "spotter key bootstrap --stack dev --force",
  ])
    .option(...STACK_OPTION)
    .option("--region <region>", "where it is (default: AWS_REGION, or that of your AWS profile)")
    .option("--name <name>", "for people: who has it (default: first)")
    .option("--force", "make one although an admin key lives already: when it is lost")
    .action(async ({ json, ...options }: Options) => {
      const made = await bootstrapKey({ ...options, stack: stackName(options.stack) });
      if (json) return printJson(context, made);
      printConnection(context, made);
    });
}

/** The settings of a shell that talks to the stack, ready for `eval`; the key is nowhere else. */
export function printConnection(context: CliContext, { url, key, record }: BootstrappedKey): void {
  print(context, `export SPOTTER_URL=${url}`);
  print(context, `export SPOTTER_API_KEY=${key}`);
  context.err.write(
    "This is the only time the key is shown: keep it where you keep passwords, and set both variables where you " +
      `work. Revoke it: ${context.command(`key revoke ${record.id}`)}\n`,
  );
}
