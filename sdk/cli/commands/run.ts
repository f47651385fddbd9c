import { type Command, Option } from "commander";
import { RUN_STATES, type RunState } from "../../schema/run.ts";
import { Run } from "../../run.ts";
import { type CliContext, print, printJson, printList } from "../context.ts";
import { followRun } from "../follow-run.ts";
import { runOrNewest } from "../newest.ts";
import { integer } from "../numbers.ts";
import { logLineText } from "../render/log-line.ts";
import { runFacts, trackerLine } from "../render/run-facts.ts";
import { ageText } from "../render/time.ts";
import { occupantOf } from "../render/waiting.ts";
import { withProjectRun } from "./project-run.ts";
import { runCompareVerb } from "./run-compare.ts";
import { runLifeVerbs } from "./run-life.ts";
import { noun, RUN_ID, verb } from "../verb.ts";

const NEWEST = `${RUN_ID} (default: the newest)`;

export function runCommand(context: CliContext): Command {
  const command = noun(
    "run",
    "Trainings: they go on in the daemon, whoever looks",
    [
      list(context),
      get(context),
      watch(context),
      logs(context),
      runCompareVerb(context),
      ...runLifeVerbs(context),
    ],
    ["spotter run list --state running", "spotter run watch", "spotter run cancel run-EXAMPLE"],
  ).addHelpText(
    "after",
    "\nWhere no id is given, get, watch and logs mean the newest run.\n" +
      "Trainings start from scripts: `new TrainConfig({ ... }).launch()`; see README.md and examples/haiku/run.ts.\n" +
      "They start from project folders, too: `spotter init` writes one, `spotter run -d DIR` trains it.",
  );
  return withProjectRun(command, context);
}

interface ListOptions {
  limit: number;
  state?: RunState;
  tag?: string;
  archived?: boolean;
  json?: boolean;
}

function list(context: CliContext): Command {
  return verb("list", "List runs, newest first", [
    "spotter run list --limit 5",
    "spotter run list --state failed --tag haiku",
  ])
    .addOption(new Option("--limit <n>", "how many").argParser(integer).default(20))
    .addOption(new Option("--state <state>", "only runs in this state").choices(RUN_STATES))
    .option("--tag <tag>", "only runs with this tag")
    .option("--archived", "archived runs, and only those")
    .action(async ({ json, ...options }: ListOptions) => {
      const runs = await Run.list({ ...options, signal: context.signal });
      if (json) return printJson(context, runs);
      const rows = runs.map((run) => [
        run.id,
        run.name ?? "",
        run.state,
        `${run.step}/${run.steps}`,
        run.metrics["reward/mean"]?.toFixed(2) ?? "",
        run.model,
        ageText(run.createdAtMs, Date.now()),
      ]);
      const header = ["ID", "NAME", "STATE", "STEP", "REWARD", "MODEL", "CREATED"];
      const isFiltered = options.state ?? options.tag ?? options.archived;
      const empty = "No runs yet. Trainings start from scripts, see README.md; `npm run demo` shows one.";
      printList(context, header, rows, isFiltered ? "No such runs." : empty);
    });
}

function get(context: CliContext): Command {
  return verb(
    "get [id]",
    "Show a run, its latest figures and its checkpoints",
    ["spotter run get", "spotter run get run-EXAMPLE"],
    { id: NEWEST },
  ).action(async (id: string | undefined, options: { json?: boolean }) => {
    const { signal } = context;
    const run = await runOrNewest(id, signal);
    const checkpoints = await run.checkpoints({ signal });
    if (options.json) {
      const { record, spec, url } = run;
      return printJson(context, {
        run: record,
        spec,
        url,
        checkpoints: checkpoints.map((each) => each.record),
      });
    }
    const waitsOn = run.record.waitingFor === "capacity" ? await occupantOf(run.id, signal) : undefined;
    const { url } = run;
    const { limits, trackers } = run.spec;
    const facts = { nowMs: Date.now(), url, waitsOn, maxCostUsd: limits.maxCostUsd, trackers };
    for (const line of runFacts(run.record, facts)) {
      print(context, context.hint(line));
    }
    for (const checkpoint of checkpoints) print(context, `${checkpoint.id}  ${checkpoint.path}`);
  });
}

function watch(context: CliContext): Command {
  return verb(
    "watch [id]",
    "Follow a run until it ends; Ctrl-C only stops looking",
    ["spotter run watch", "spotter run watch run-EXAMPLE", "spotter run watch --json > events.jsonl"],
    { id: NEWEST },
  ).action(async (named: string | undefined, options: { json?: boolean }) => {
    const { signal } = context;
    const run = await runOrNewest(named, signal);
    for (const each of options.json ? [] : (run.spec.trackers ?? []))
      print(context, trackerLine(run.id, each));
    if (!options.json) return followRun(context, run);
    for await (const event of run.events({ signal })) printJson(context, event);
    await run.result({ signal });
  });
}

function logs(context: CliContext): Command {
  const examples = ["spotter run logs", "spotter run logs run-EXAMPLE"];
  return verb("logs [id]", "Show what the newest attempt wrote last", examples, { id: NEWEST }).action(
    async (id: string | undefined, options: { json?: boolean }) => {
      const { signal } = context;
      const lines = await (await runOrNewest(id, signal)).logs({ signal });
      if (options.json) return printJson(context, { lines });
      for (const line of lines) print(context, context.isInteractive ? logLineText(line) : line);
    },
  );
}
