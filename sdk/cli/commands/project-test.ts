import { join } from "node:path";
import type { Command } from "commander";
import { Client } from "../../client.ts";
import { hasErrors } from "../../config/project-folder/finding.ts";
import type { Entry } from "../../config/project-folder/play/player.ts";
import type { PreparedTest } from "../../config/project-folder/play/prepare-test.ts";
import type { Rollout } from "../../config/project-folder/play/play-project.ts";
import type { ProjectUserCode } from "../../config/project-folder/play/user-code.ts";
import type { Outcome } from "../../config/project-folder/play/statistics.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { modelWord } from "../model-word.ts";
import { number } from "../numbers.ts";
import { findingLines, verdictLine } from "../render/findings.ts";
import { Told } from "../told.ts";
import { refuseWords } from "../refuse-words.ts";
import { verb } from "../verb.ts";
import { conversationLines, rewardsLines, rolloutLines, summaryLines } from "./project-test-lines.ts";
import { count, entryNumbers, seedNumber, selectionOf, type TestOptions } from "./project-test-options.ts";

type ReadyTest = PreparedTest & { project: NonNullable<PreparedTest["project"]> };

/** Plays rows of a project folder with a model and judges the answers, without training. */
export function testCommand(context: CliContext): Command {
  return verb(
    "test [key=value...]",
    "Play rows of a project folder with a model, and judge them; trains nothing",
    [
      "spotter test -n 3 --verbose",
      "spotter test --entry 0,1,2 --model mock",
      "spotter test --all --repeat 4 --model run-EXAMPLE@20",
      "spotter test --model http://127.0.0.1:8000/v1#my-model rollout.max_turns=2",
      "spotter test --rewards-only",
    ],
    { key: "values over those of config.yml" },
  )
    .option("-d, --dir <folder>", "the project", ".")
    .option("-n, --num <rows>", "rows to play, by chance and none twice (default: 1)", count)
    .option("-e, --entry <places>", "the rows at these places, from 0: 0,1,2", entryNumbers)
    .option("--all", "every row")
    .option(
      "--model <model>",
      "mock, spotter/nano, an endpoint, a checkpoint (run@step), a URL (URL#name), or a name at OPENAI_BASE_URL " +
        "(default: local_model or the project's model)",
    )
    .option(
      "--seed <n>",
      "same seed: same rows, and the same answers where the model allows it",
      seedNumber,
      0,
    )
    .option("--repeat <n>", "answers to each row", count, 1)
    .option("--threshold <reward>", "from which total on an answer is right, for pass@k", number, 1)
    .option(
      "--rewards-only",
      "no model: every reward over every row's expected answer, and over an empty one",
    )
    .option("--secret <name...>", "stored secrets that rewards and tools may read")
    .option("--allow-python", "run rewards.py and tools.py, which reach your files and network")
    .option("-v, --verbose", "print the whole conversations")
    .option("--no-save", "write no rollouts into the project")
    .action((words: string[], options: TestOptions, command: Command) => {
      refuseWords(command, words);
      return test(context, words, options);
    });
}

async function test(context: CliContext, words: string[], given: TestOptions): Promise<void> {
  const options = { ...given, model: modelWord(given.model) };
  const selection = selectionOf(options);
  const { prepareTest } = await import("../../config/project-folder/play/prepare-test.ts");
  const prepared = await prepareTest(options.dir, {
    overrides: words,
    model: options.model,
    allowPython: options.allowPython,
    environment: process.env,
    signal: context.signal,
  });
  const { project, findings } = prepared;
  if (!project || hasErrors(findings)) {
    if (options.json) printJson(context, { rollouts: [], summary: null, findings });
    else {
      for (const line of findingLines(findings, context)) print(context, line);
      print(context, verdictLine(findings, undefined, context.colors));
    }
    throw new Told(2);
  }
  if (!options.json) for (const line of findingLines(findings, context)) print(context, line);
  const { entriesOf } = await import("../../config/project-folder/play/entries.ts");
  const { checkSelection } = await import("../../config/project-folder/play/select-entries.ts");
  checkSelection(selection, project.rows.rows);
  const entries = entriesOf(project, selection);
  const ready = { ...prepared, project };
  const code = await userCode(context, ready, options);
  try {
    await (options.rewardsOnly
      ? rewardsOnly(context, ready, code, entries, options)
      : play(context, ready, code, entries, options));
  } finally {
    await code.close();
  }
}

type Entries = AsyncGenerator<Entry>;

/** Without a model there is none that judges either, unless a server is granted that does. */
function judgeOf({ model, secret = [] }: TestOptions): "mock" | undefined {
  const isGranted = secret.some((name) => name === "OPENAI_BASE_URL" || name === "OPENAI_API_KEY");
  return model === "mock" && !isGranted ? "mock" : undefined;
}

/** Nobody shall take made up verdicts for a judge's. */
function printJudge(context: CliContext, code: ProjectUserCode, options: TestOptions): void {
  const asked = code.asked();
  if (asked === 0 || judgeOf(options) === undefined) return;
  const questions = `${asked} question${asked === 1 ? "" : "s"}`;
  print(
    context,
    `The mock answered ${questions} of rewards to a judge: verdicts that fit, and mean nothing.`,
  );
}

async function userCode(context: CliContext, { project }: ReadyTest, options: TestOptions) {
  const { secret = [] } = options;
  const [{ openUserCode }, { spotterHome }] = await Promise.all([
    import("../../config/project-folder/play/user-code.ts"),
    import("../../local/home.ts"),
  ]);
  return openUserCode(project, {
    client: () => Client.default(),
    secrets: secret,
    judge: judgeOf(options),
    environment: process.env,
    cacheFolder: join(spotterHome(), "cache", "python"),
    onLine: (line) => void context.err.write(`${line}\n`),
    signal: context.signal,
  });
}

async function play(
  context: CliContext,
  test: ReadyTest,
  code: ProjectUserCode,
  entries: Entries,
  options: TestOptions,
): Promise<void> {
  const [{ openPlayer }, { openRollouts }, { playProject }, { summaryOf }] = await Promise.all([
    import("../../config/project-folder/play/open-player.ts"),
    import("../../config/project-folder/play/save.ts"),
    import("../../config/project-folder/play/play-project.ts"),
    import("../../config/project-folder/play/statistics.ts"),
  ]);
  const { project, settings, timeoutMs, chatTemplateKwargs, findings } = test;
  const { model, repeat, seed } = options;
  const { signal } = context;
  const client = () => Client.default();
  const player = await openPlayer({
    model,
    project,
    chatTemplateKwargs,
    environment: process.env,
    client,
    signal,
  });
  const played: { rollout: Rollout; file: string | undefined }[] = [];
  const saved = options.save ? await openRollouts(project.folder, player.name) : undefined;
  if (!options.json) print(context, `Playing with ${player.name}`);
  if (!options.json && (options.num ?? 0) > project.rows.rows)
    print(
      context,
      `All there is: ${project.rows.rows} row${project.rows.rows === 1 ? "" : "s"}, each played once. --repeat plays them again.`,
    );
  for await (const rollout of playProject({
    entries,
    repeat,
    seed,
    player,
    code,
    settings,
    timeoutMs,
    signal,
  })) {
    const file = await saved?.save(rollout);
    // Conversations are in their files: of a whole data set they would fill the memory.
    played.push({ rollout: options.json ? rollout : withoutTexts(rollout), file });
    if (options.json) continue;
    for (const line of rolloutLines(rollout, file, context.colors)) print(context, line);
    if (options.verbose) for (const line of conversationLines(rollout, context.colors)) print(context, line);
  }
  const outcomes = played.map(({ rollout }) => outcomeOf(rollout, code.rewards.length > 0));
  const summary = summaryOf(outcomes, options.threshold);
  if (options.json) {
    const rollouts = played.map(({ rollout, file }) => jsonOf(rollout, file, options.verbose === true));
    const judge = { model: judgeOf(options) ?? null, asked: code.asked() };
    printJson(context, { model: player.name, judge, seed, rollouts, summary, findings });
  } else {
    for (const line of summaryLines(summary, code.rewards.length > 0, context.colors)) print(context, line);
    printJudge(context, code, options);
  }
  if (summary.failed > 0 || summary.invalid > 0) throw new Told(1);
}

function outcomeOf({ entry, verdict, failure }: Rollout, isJudged: boolean): Outcome {
  return { entry: entry.index, total: verdict?.total, isFailed: failure !== undefined, isJudged };
}

function withoutTexts({ entry, conversation: _, ...rest }: Rollout): Rollout {
  return { ...rest, entry: { index: entry.index, row: { prompt: [], row: {} } } };
}

function jsonOf(
  rollout: Rollout,
  file: string | undefined,
  hasConversation: boolean,
): Record<string, unknown> {
  const { number: place, entry, sample, conversation, verdict, failure } = rollout;
  return {
    number: place,
    entry: entry.index,
    sample,
    reward: verdict?.total ?? null,
    rewards: Object.fromEntries(
      Object.entries(verdict?.scores ?? {}).map(([name, { score }]) => [name, score]),
    ),
    errors: verdict?.errors ?? {},
    toolErrors: conversation?.toolErrors ?? [],
    turns: conversation?.turns ?? 0,
    truncated: conversation?.truncated ?? false,
    file: file ?? null,
    failure: failure ?? null,
    ...(hasConversation && { conversation: conversation?.messages ?? [] }),
  };
}

async function rewardsOnly(
  context: CliContext,
  test: ReadyTest,
  code: ProjectUserCode,
  entries: Entries,
  options: TestOptions,
): Promise<void> {
  const { runRewards } = await import("../../config/project-folder/play/rewards-only.ts");
  const report = await runRewards(entries, code, context.signal);
  if (options.json) printJson(context, { ...report, findings: test.findings });
  else {
    for (const line of rewardsLines(report, context.colors)) print(context, line);
    printJudge(context, code, options);
  }
  if (report.rewards.some(({ invalid }) => invalid > 0)) throw new Told(1);
}
