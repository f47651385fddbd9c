import { type Command, InvalidArgumentError } from "commander";
import { Client } from "../../client.ts";
import { SpotterError } from "../../schema/errors.ts";
import { cleanupReport } from "../../schema/cleanup.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { durationMs } from "../numbers.ts";
import { table } from "../render/table.ts";
import { verb } from "../verb.ts";
import { verifyCleanup } from "./cleanup-verify.ts";

interface Options {
  dryRun?: boolean;
  olderThan?: number;
  keepLast?: number;
  verify?: boolean;
  stack: string;
  region?: string;
  keepData?: boolean;
  json?: boolean;
}

/** Time in which the largest state folder is walked. */
const CLEANUP_MS = 600_000;
const DEFAULT_AGE_MS = 7 * 86_400_000;

export function cleanupCommand(context: CliContext): Command {
  return verb(
    "cleanup",
    "Remove what nobody needs any more: old rollouts, checkpoints beyond their retention, unused uploads, caches",
    [
      "spotter cleanup --dry-run",
      "spotter cleanup --older-than 30d --keep-last 1",
      "spotter cleanup --verify --stack dev --region eu-central-1",
    ],
  )
    .option("--dry-run", "only show what would go")
    .option(
      "--older-than <time>",
      "spare what was used since, such as 12h, 7d or 4w (default: 7d)",
      durationMs,
    )
    .option("--keep-last <n>", "checkpoints to keep of each ended run (default: all)", count)
    .option(
      "--verify",
      "prove by their tag that nothing that costs is left of a stack on AWS; removes nothing",
    )
    .option("--stack <name>", "the stack of --verify", "dev")
    .option("--region <region>", "where that was (default: AWS_REGION, or that of your AWS profile)")
    .option("--keep-data", "with --verify: its bucket and its table are left on purpose")
    .action(async ({ json, dryRun = false, olderThan = DEFAULT_AGE_MS, keepLast, ...rest }: Options) => {
      if (rest.verify) return verifyCleanup(context, { json, ...rest });
      if (rest.region !== undefined || rest.keepData) throw onlyWithVerify();
      const request = { dryRun, olderThanMs: olderThan, ...(keepLast !== undefined && { keepLast }) };
      const options = { json: request, signal: context.signal, timeoutMs: CLEANUP_MS };
      const report = await Client.default().request(cleanupReport, "POST", "/cleanup", options);
      if (json) return printJson(context, report);
      const rows = report.items.map(({ kind, name, bytes, reason }) => [kind, name, mib(bytes), reason]);
      if (rows.length > 0)
        for (const line of table(["WHAT", "NAME", "MIB", "WHY"], rows)) print(context, line);
      const count = `${rows.length} ${rows.length === 1 ? "thing" : "things"}, ${mib(report.bytes)} MiB`;
      print(
        context,
        rows.length === 0 ? "Nothing to clean up." : `${dryRun ? "Would remove" : "Removed"} ${count}.`,
      );
    });
}

function onlyWithVerify(): SpotterError {
  return new SpotterError("invalid_input", "--region and --keep-data belong to --verify.", {
    where: "--verify",
    hint: "`spotter cleanup --verify --stack dev` looks at a stack on AWS; without it, files here are cleaned up.",
  });
}

function mib(bytes: number): number {
  return Number((bytes / 2 ** 20).toFixed(2));
}

function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("Give a whole number.");
  return Number(text);
}
