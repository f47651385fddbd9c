import type { Command } from "commander";
import { SpotterError } from "../../schema/errors.ts";
import { destroyStack, runningWork } from "../aws/destroy-stack.ts";
import { isProved, type Leftovers } from "../aws/leftovers.ts";
import { planOf, projectFolder } from "../aws/plan.ts";
import { backendOf, pulumiVersion, regionOf, settingsOf } from "../aws/pulumi-state.ts";
import { openPulumi } from "../aws/pulumi.ts";
import { stackName, STACK_OPTION } from "../aws/stack-name.ts";
import { checkPassphrase } from "../aws/state-backend.ts";
import { taggedResources } from "../aws/tagged-resources.ts";
import { type CliContext, print, printJson, teach } from "../context.ts";
import { durationMs } from "../numbers.ts";
import { Told } from "../told.ts";
import { verb } from "../verb.ts";
import { tellLeftovers } from "./cleanup-verify.ts";
import { showing } from "./deploy.ts";

interface Options {
  stack: string;
  region?: string;
  dir?: string;
  deleteData?: boolean;
  stopWithin?: number;
  verifyWithin?: number;
  yes?: boolean;
  json?: boolean;
}

/** Longer than a training takes to save, and than AWS lists what is gone. */
const STOP_MS = 10 * 60_000;
const VERIFY_MS = 10 * 60_000;

export function destroyCommand(context: CliContext): Command {
  return verb("destroy", "Remove a stack from AWS: end what runs, destroy it, prove that nothing is left", [
    "spotter destroy --stack dev",
    "spotter destroy --stack dev --yes",
    "spotter destroy --stack dev --delete-data --yes",
  ])
    .option(...STACK_OPTION)
    .option("--region <region>", "where it is (default: that of its settings)")
    .option("-d, --dir <folder>", "clone with the Pulumi program (default: here)")
    .option("--delete-data", "also its bucket, its table and its secrets, where the settings keep them")
    .option("--stop-within <time>", "for what runs to save and end (default: 10m)", durationMs)
    .option("--verify-within <time>", "for AWS to forget what is gone (default: 10m)", durationMs)
    .option("--yes", "do it; without this, only say what would be done")
    .action(async (options: Options) => destroy(context, options));
}

async function destroy(context: CliContext, options: Options): Promise<void> {
  const { json = false } = options;
  const stack = stackName(options.stack);
  const folder = projectFolder(options.dir);
  const pulumi = openPulumi({ folder });
  await pulumiVersion(pulumi);
  checkPassphrase((await backendOf(pulumi)) ?? "", folder, stack);
  const region = options.region ?? (await regionOf(pulumi, stack));
  // Not that of the environment: looking in the wrong one would find nothing, and prove it.
  if (region === undefined) throw noRegion(stack);
  const planned = await planOf(folder, await settingsOf(pulumi, stack));
  const isRetained = !("plan" in planned) || planned.plan.removal === "retain";
  const deletesData = options.deleteData === true || !isRetained;
  if (!options.yes) return refuseToGuess(stack, region, deletesData);
  const leftovers = await destroyStack(pulumi, {
    ...{ stack, region, deletesData, yes: true },
    stopMs: options.stopWithin ?? STOP_MS,
    verifyMs: options.verifyWithin ?? VERIFY_MS,
    tell: (text) => teach(context, text),
    ...showing(context, json),
  });
  if (json)
    printJson(context, { ok: isProved(leftovers), stack, region, deletedData: deletesData, ...leftovers });
  else tellDestroyed(context, stack, region, leftovers);
  if (!isProved(leftovers)) throw new Told(1);
}

/** Says what would go, and does nothing. */
async function refuseToGuess(stack: string, region: string, deletesData: boolean): Promise<never> {
  const resources = await taggedResources(stack, { region });
  const work = await runningWork(resources, region);
  const data = deletesData
    ? "Its bucket, its table and its secrets are DELETED, with every checkpoint and dataset in them."
    : "Its bucket, its table and its secrets are kept (`--delete-data` deletes them).";
  throw new SpotterError(
    "invalid_input",
    `This destroys the stack ${stack} in ${region}: ${resources.length} resources, and ends ${work.length} ` +
      `running containers. ${data}`,
    { where: "--yes", hint: "Repeat it with `--yes` if that is what you want." },
  );
}

function tellDestroyed(context: CliContext, stack: string, region: string, leftovers: Leftovers): void {
  tellLeftovers(context, stack, region, leftovers);
  if (leftovers.billed.length > 0)
    teach(
      context,
      `Look again in some minutes: \`spotter cleanup --verify --stack ${stack} --region ${region}\`.`,
    );
  else if (leftovers.kept.length > 0)
    teach(context, `To delete the data as well: \`spotter destroy --stack ${stack} --delete-data --yes\`.`);
  else print(context, `Pulumi still knows its name: \`pulumi stack rm ${stack}\` forgets it.`);
}

function noRegion(stack: string): SpotterError {
  return new SpotterError("invalid_input", `Where the stack ${stack} is, its settings do not say.`, {
    where: "--region",
    hint: "Give it with `--region eu-central-1`. Is this the folder, and the login of Pulumi, that it was made with?",
  });
}
