import type { Command } from "commander";
import { SpotterError } from "../../schema/errors.ts";
import { usualRegion } from "../aws/ask-account.ts";
import {
  addressOf,
  doesAnswer,
  firstKey,
  recover,
  selectStack,
  update,
  type Address,
} from "../aws/deploy-stack.ts";
import { examine, type Examined } from "../aws/examine.ts";
import { projectFolder, totalUsd, type StackPlan } from "../aws/plan.ts";
import { openPulumi, type ShowParams } from "../aws/pulumi.ts";
import { pulumiVersion } from "../aws/pulumi-state.ts";
import { stackName, STACK_OPTION } from "../aws/stack-name.ts";
import { checkPassphrase, ensureBackend } from "../aws/state-backend.ts";
import { type CliContext, print, printJson, teach } from "../context.ts";
import { pairs } from "../render/table.ts";
import { Told } from "../told.ts";
import { verb } from "../verb.ts";
import { printChecks, reportOf } from "./doctor.ts";
import { printConnection } from "./key-bootstrap.ts";

interface Options {
  stack: string;
  region?: string;
  dir?: string;
  backend?: string;
  recover?: boolean;
  yes?: boolean;
  json?: boolean;
}

export function deployCommand(context: CliContext): Command {
  return verb(
    "deploy",
    "Make a stack on AWS, or bring it to this version and its settings; then its first key",
    ["spotter deploy --region eu-central-1", "spotter deploy --stack prod --yes", "spotter deploy --recover"],
  )
    .option(...STACK_OPTION)
    .option(
      "--region <region>",
      "where it is, kept from then on (default: AWS_REGION, or that of your AWS profile)",
    )
    .option("-d, --dir <folder>", "clone with the Pulumi program (default: here)")
    .option(
      "--backend <url>",
      'where its state is kept: "s3" for a bucket of your account, or what `pulumi login` takes',
    )
    .option("--recover", "first mend what an interrupted update left behind")
    .option("--yes", "do not ask")
    .action(async (options: Options) => deploy(context, options));
}

async function deploy(context: CliContext, options: Options): Promise<void> {
  const { json = false, yes = false } = options;
  requireYes(context, options);
  const stack = stackName(options.stack);
  const folder = projectFolder(options.dir);
  const pulumi = openPulumi({ folder });
  await pulumiVersion(pulumi);
  const backend = await ensureBackend(pulumi, {
    backend: options.backend,
    region: options.region ?? (await usualRegion()),
  });
  checkPassphrase(backend, folder, stack);
  const examined = await examine({ folder, stack, region: options.region });
  const region = stopIfUseless(context, examined, json);
  await selectStack(pulumi, stack, region);
  const params = { stack, yes, tell: (text: string) => teach(context, text), ...showing(context, json) };
  if (options.recover) await recover(pulumi, params);
  await update(pulumi, params);
  const { keyBootstrapFunction: functionName, ...address } = await addressOf(pulumi, stack);
  // Before the key, which may not be had with the rights of who deploys.
  if (!json) tellAddress(context, stack, address, examined);
  const answers = await doesAnswer(address.url, context.signal);
  if (!answers)
    teach(
      context,
      `${address.url} does not answer yet. Look again in some minutes: curl ${address.url}/health`,
    );
  // Last of all: whoever loses patience before has none that nobody was told of.
  const key = await firstKey({ stack, region, functionName });
  if (json)
    printJson(context, { stack, ...address, answers, key, ...costsOf(examined.plan), ...reportOf(examined) });
  else if (key !== null) printConnection(context, key);
  else teach(context, "It has an admin key already. If that is lost: `spotter key bootstrap --force`.");
}

/** @throws SpotterError `invalid_input` where nobody could answer. */
export function requireYes(context: CliContext, { yes, json }: Pick<Options, "yes" | "json">): void {
  if (yes || (context.isInteractive && !json)) return;
  throw new SpotterError("invalid_input", "Nobody is here to say yes.", {
    where: "--yes",
    hint: "Give `--yes` where no person is at a terminal, and with `--json`.",
  });
}

/** Where Pulumi shows what it does: on the terminal itself, where it can redraw its table. */
export function showing(context: CliContext, json: boolean): ShowParams {
  const { out, err, signal, isTerminal } = context;
  const isOwnTerminal = isTerminal && out === process.stdout;
  return { out: isOwnTerminal && !json ? "inherit" : json ? err : out, err, signal };
}

/** Tells what is wrong; what would make the update fail ends the command. Resolves to the region. */
function stopIfUseless(context: CliContext, examined: Examined, json: boolean): string {
  const { checks, region } = examined;
  const isStopped = region === undefined || checks.some(({ stopsUpdate }) => stopsUpdate === true);
  if (!json) {
    const bad = checks.filter(({ status }) => status !== "ok");
    if (bad.length > 0) printChecks(context, bad);
    if (bad.length > 0 && !isStopped) print(context, "None of it keeps the stack from being made; going on.");
  } else if (isStopped) printJson(context, reportOf(examined));
  if (isStopped) throw new Told(1);
  return region;
}

function costsOf(plan: StackPlan | undefined) {
  return plan === undefined ? {} : { idleMonthlyUsd: totalUsd(plan), idleCosts: plan.idleCosts };
}

function tellAddress(
  context: CliContext,
  stack: string,
  { url, gatewayUrl }: Pick<Address, "url" | "gatewayUrl">,
  { plan, region }: Examined,
): void {
  const { bold, cyan } = context.colors;
  print(context);
  print(context, `The stack ${bold(stack)} in ${region} is at ${cyan(url)}`);
  if (gatewayUrl !== null) print(context, `Base URL for OpenAI clients: ${cyan(gatewayUrl)}`);
  if (plan !== undefined) {
    print(
      context,
      `While nothing runs it costs about $${totalUsd(plan)} a month (list prices of us-east-1):`,
    );
    const rows = plan.idleCosts.map(({ what, monthlyUsd }) => [what, `$${monthlyUsd}`]);
    for (const line of pairs(Object.fromEntries(rows) as Record<string, string>)) print(context, `  ${line}`);
  }
}
