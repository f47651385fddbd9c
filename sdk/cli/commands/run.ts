import { type Command, Option } from "commander";
import { RUN_STATES, type Run as RunRecord, type RunState } from "../../schema/run.ts";
import { Run } from "../../run.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { integer } from "../numbers.ts";
import { pairs, table } from "../render/table.ts";
import { ageText, durationText } from "../render/time.ts";
import { watchRun } from "../render/watch-run.ts";
import { runLifeVerbs } from "./run-life.ts";
import { noun, verb } from "../verb.ts";

export function runCommand(context: CliContext): Command {
  return noun("run", "Trainings: they go on in the daemon, whoever looks", [
    list(context),
    get(context),
    watch(context),
    logs(context),
    ...runLifeVerbs(context),
  ]);
}

interface ListOptions {
  limit: number;
  state?: RunState;
  tag?: string;
  archived?: boolean;
  json?: boolean;
}

function list(context: CliContext): Command {
  return verb("list", "List runs, newest first", "spotter run list --limit 5")
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
      for (const line of table(header, rows)) print(context, line);
    });
}

function get(context: CliContext): Command {
  return verb(
    "get <id>",
    "Show a run, its latest figures and its checkpoints",
    "spotter run get run-01jd",
  ).action(async (id: string, options: { json?: boolean }) => {
    const { signal } = context;
    const run = await Run.get(id, { signal });
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
    for (const line of pairs({ ...factsOf(run.record), url: run.url })) print(context, line);
    for (const [name, value] of Object.entries(run.metrics)) print(context, `  ${name}  ${value}`);
    for (const checkpoint of checkpoints) print(context, `${checkpoint.id}  ${checkpoint.path}`);
  });
}

function watch(context: CliContext): Command {
  return verb(
    "watch <id>",
    "Follow a run until it ends; Ctrl-C only stops looking",
    "spotter run watch run-01jd",
  ).action(async (id: string, options: { json?: boolean }) => {
    const { signal, out, isTerminal } = context;
    const run = await Run.get(id, { signal });
    try {
      if (options.json) for await (const event of run.events({ signal })) printJson(context, event);
      else await watchRun(run, { out, isTerminal, signal });
    } catch (error) {
      if (signal.aborted) context.err.write(`\n${id} goes on. Look again: spotter run watch ${id}\n`);
      throw error;
    }
    const result = await run.result({ signal });
    if (options.json) return;
    const last = result.checkpoints().at(-1);
    if (last) print(context, `Serve it: spotter endpoint launch ${result.run.model} --checkpoint ${last.id}`);
  });
}

function logs(context: CliContext): Command {
  return verb("logs <id>", "Show what the newest attempt wrote last", "spotter run logs run-01jd").action(
    async (id: string, options: { json?: boolean }) => {
      const { signal } = context;
      const lines = await (await Run.get(id, { signal })).logs({ signal });
      if (options.json) return printJson(context, { lines });
      for (const line of lines) print(context, line);
    },
  );
}

function factsOf(run: RunRecord): Record<string, string | number | undefined> {
  const endedAtMs = run.endedAtMs ?? Date.now();
  return {
    id: run.id,
    name: run.name,
    state: stateText(run),
    phase: run.phase,
    tags: run.tags.length > 0 ? run.tags.join(", ") : undefined,
    notes: run.notes,
    model: run.model,
    step: `${run.step}/${run.steps}`,
    attempt: run.attempt,
    took: run.startedAtMs === undefined ? undefined : durationText(endedAtMs - run.startedAtMs),
    failure: run.failure?.message,
  };
}

function stateText({ state, waitingFor, pauseRequested, stalledSinceMs }: RunRecord): string {
  if (waitingFor) return `${state} (waiting for ${waitingFor})`;
  if (pauseRequested) return `${state} (about to pause)`;
  if (stalledSinceMs === undefined) return state;
  return `${state} (no progress for ${durationText(Date.now() - stalledSinceMs)})`;
}
