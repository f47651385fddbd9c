import { SpotterError } from "../../schema/errors.ts";
import { usualRegion } from "../aws/ask-account.ts";
import { findLeftovers, isProved, type Leftovers } from "../aws/leftovers.ts";
import { stackName } from "../aws/stack-name.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { table } from "../render/table.ts";
import { Told } from "../told.ts";

export interface VerifyOptions {
  stack: string;
  region?: string | undefined;
  keepData?: boolean | undefined;
  json?: boolean | undefined;
}

const BILLING = {
  hours: "by the hour",
  storage: "by what it keeps",
  use: "by use",
  nothing: "no",
  unknown: "unknown",
};

/** Lists what is left of a stack; ends with 1 where something of it can cost, or that could not be found out. */
export async function verifyCleanup(context: CliContext, options: VerifyOptions): Promise<void> {
  const { json, keepData = false } = options;
  const stack = stackName(options.stack);
  const region = options.region ?? (await usualRegion());
  if (region === undefined)
    throw new SpotterError("invalid_input", "No region is given.", {
      where: "--region",
      hint: "Give one with `--region eu-central-1`, or set AWS_REGION.",
    });
  const leftovers = await findLeftovers({ stack, region, keepsData: keepData });
  if (json) printJson(context, { ok: isProved(leftovers), stack, region, ...leftovers });
  else tellLeftovers(context, stack, region, leftovers);
  if (!isProved(leftovers)) throw new Told(1);
}

export function tellLeftovers(
  context: CliContext,
  stack: string,
  region: string,
  { billed, free, kept, unproved }: Leftovers,
): void {
  const all = [...billed, ...kept, ...free];
  if (all.length > 0) {
    const rows = all.map((each) => [each.kind, each.name, BILLING[each.billing], each.detail ?? ""]);
    for (const line of table(["KIND", "NAME", "BILLED", "STATE"], rows)) print(context, line);
  }
  for (const each of unproved) print(context, `Not looked up: ${each}`);
  const where = `of the stack ${stack} in ${region}`;
  if (billed.length > 0)
    return print(context, `${counted(billed.length)} ${where} can cost; ${free.length} more cannot.`);
  const rest = free.length > 0 ? ` ${counted(free.length)} that cost nothing.` : "";
  const data = kept.length > 0 ? ` Its data is kept: ${kept.map(({ name }) => name).join(", ")}.` : "";
  if (unproved.length > 0)
    return print(context, `Whether something ${where} costs is not proved.${data}${rest}`);
  print(context, `Nothing ${where} that costs is left.${data}${rest && ` There are${rest.toLowerCase()}`}`);
}

function counted(count: number): string {
  return `${count} ${count === 1 ? "resource" : "resources"}`;
}
