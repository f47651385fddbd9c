import { dirname, relative, resolve } from "node:path";
import { type Command, Option } from "commander";
import { startDevServer, type DevServer } from "../../local/dev-server.ts";
import { spotterHome } from "../../local/home.ts";
import type { DevRow } from "../../schema/dev.ts";
import { SpotterError } from "../../schema/errors.ts";
import { bundleUserCode } from "../../user-code/bundle.ts";
import { type CliContext, print } from "../context.ts";
import { devRows, rewardsFile, type DevRowsOptions } from "../dev/dev-rows.ts";
import { scoreLines } from "../dev/scores.ts";
import { createWatch } from "../dev/watch-folder.ts";
import { integer } from "../numbers.ts";
import { verb } from "../verb.ts";

interface Options extends DevRowsOptions {
  dir: string;
  rewards?: string;
  inspect?: number | true;
  timeoutMs: number;
  once?: boolean;
  secret?: string[];
}

const INSPECTOR_PORT = 9229;
/** At a breakpoint time stands still. */
const DEBUGGING_MS = 3_600_000;
const FROM_ROWS = /^(reward_(failed|invalid|timeout)|isolate_)/;
const CLEAR = "\x1b[2J\x1b[3J\x1b[H";

export function devCommand(context: CliContext): Command {
  return verb("dev", "Score dataset rows with rewards.ts, again at every save", [
    "spotter dev",
    "spotter dev -d my-project --endpoint nano",
    "spotter dev --once --json",
  ])
    .option("-d, --dir <folder>", "the project", ".")
    .option("--rewards <file>", "module that exports the rewards (default: rewards.ts of the project)")
    .option("--dataset <file>", "rows (default: train.* of the project, else its first file of rows)")
    .addOption(new Option("--rows <n>", "how many of them").argParser(integer).default(8))
    .option("--answer-column <name>", "column with the answers to judge (default: completion, response, ...)")
    .option("--endpoint <name>", "let this endpoint answer instead, once")
    .addOption(new Option("--max-tokens <n>", "longest answer of the endpoint").argParser(integer))
    .option("--input-column <name>", "column that fills {input}")
    .option("--prompt-template <text>", "the question")
    .addOption(new Option("--timeout-ms <n>", "longest time for one row").argParser(integer).default(10_000))
    .addOption(
      new Option(
        "--inspect [port]",
        `let a debugger in (default port ${INSPECTOR_PORT}); nothing times out then`,
      ).argParser(integer),
    )
    .option("--secret <name...>", "secrets of this machine that the rewards may read, as runs name them")
    .option("--once", "judge once and end; fails if a row has no verdict")
    .action((options: Options) => dev(context, options));
}

async function dev(context: CliContext, options: Options): Promise<void> {
  const folder = resolve(options.dir);
  const file = rewardsFile(folder, options.rewards);
  const rows = await devRows(folder, options, context.signal);
  const port = options.inspect === true ? INSPECTOR_PORT : options.inspect;
  const { dim } = context.colors;
  const server = startDevServer({
    onLog: (level, text) => print(context, `${dim(`${level.padEnd(5)} |`)} ${text}`),
    inspector: port === undefined ? undefined : { port, sourceFolder: dirname(file) },
    grants: options.secret && { home: spotterHome(), names: options.secret },
  });
  const watch = options.once ? undefined : createWatch(folder, context.signal);
  const timeoutMs = port === undefined ? options.timeoutMs : DEBUGGING_MS;
  try {
    if (port !== undefined) print(context, `Debugger: attach to 127.0.0.1:${port}, or open chrome://inspect`);
    for (;;) {
      const judging = judge(context, server, { file, rows, timeoutMs, folder });
      const failure = await Promise.race([judging, aborted(context.signal)]);
      if (!watch) {
        if (failure) throw failure;
        return;
      }
      // What went wrong in a row stands below the table already.
      if (failure && !FROM_ROWS.test(failure.code)) printFailure(context, failure);
      print(context, dim("Waiting for a change; Ctrl-C ends it."));
      if ((await watch.next()) === "aborted") context.signal.throwIfAborted();
      if (context.isTerminal) context.out.write(CLEAR);
    }
  } finally {
    watch?.close();
    await server.close();
  }
}

interface Work {
  file: string;
  folder: string;
  rows: DevRow[];
  timeoutMs: number;
}

/** One round: bundle, load, judge, show. Resolves to what went wrong, if anything did. */
async function judge(context: CliContext, server: DevServer, work: Work): Promise<SpotterError | undefined> {
  const { file, folder, rows, timeoutMs } = work;
  const startedMs = performance.now();
  try {
    const bundle = await bundleUserCode(file);
    const rewards = await server.load(bundle);
    const verdicts = await server.judge(rows, timeoutMs);
    const tookMs = Math.round(performance.now() - startedMs);
    print(
      context,
      `${relative(folder, file) || file}: ${rewards.length} rewards, ${rows.length} rows, ${tookMs} ms`,
    );
    for (const warning of bundle.warnings) print(context, `${context.colors.yellow("warning")} ${warning}`);
    for (const line of scoreLines(rewards, rows, verdicts, context.colors)) print(context, line);
    const missing = verdicts.find(({ total }) => total === undefined);
    const [first] = Object.values(missing?.errors ?? {});
    return first && SpotterError.fromBody({ error: { ...first, kind: "user" } }, 400);
  } catch (error) {
    return SpotterError.from(error);
  }
}

function printFailure(context: CliContext, { code, message, hint }: SpotterError): void {
  const { red, dim } = context.colors;
  print(context, `${red("error")} ${message} ${dim(`[${code}]`)}`);
  if (hint !== undefined) print(context, `${dim("hint")}  ${hint}`);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}
