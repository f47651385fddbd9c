import { type Command, Option } from "commander";
import { RUN_STATES, type Run as RunRecord, type RunState } from "../../schema/run.ts";
import { Run } from "../../run.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { integer } from "../numbers.ts";
import { pairs, table } from "../render/table.ts";
import { ageText, durationText } from "../render/time.ts";
import { watchRun } from "../render/watch-run.ts";
import { noun, verb } from "../verb.ts";

export function runCommand(context: CliContext): Command {
  return noun("run", "Trainings: they go on in the daemon, whoever looks", [
    list(context),
    get(context),
    watch(context),
    logs(context),
    cancel(context),
  ]);
}

function list(context: CliContext): Command {
  return verb("list", "List runs, newest first", "spotter run list --limit 5")
    .addOption(new Option("--limit <n>", "how many").argParser(integer).default(20))
    .addOption(new Option("--state <state>", "only runs in this state").choices(RUN_STATES))
    .action(async (options: { limit: number; state?: RunState; json?: boolean }) => {
      const { limit, state } = options;
      const runs = await Run.list({ limit, state, signal: context.signal });
      if (options.json) return printJson(context, runs);
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

function cancel(context: CliContext): Command {
  return verb("cancel <id>", "Ask a run to save a checkpoint and end", "spotter run cancel run-01jd").action(
    async (id: string, options: { json?: boolean }) => {
      const { signal } = context;
      const run = await (await Run.get(id, { signal })).cancel({ signal });
      if (options.json) return printJson(context, run.record);
      print(context, `${id} is asked to end; it is ${run.state}.`);
    },
  );
}

function factsOf(run: RunRecord): Record<string, string | number | undefined> {
  const endedAtMs = run.endedAtMs ?? Date.now();
  return {
    id: run.id,
    name: run.name,
    state: run.waitingFor ? `${run.state} (waiting for ${run.waitingFor})` : run.state,
    phase: run.phase,
    model: run.model,
    step: `${run.step}/${run.steps}`,
    attempt: run.attempt,
    took: run.startedAtMs === undefined ? undefined : durationText(endedAtMs - run.startedAtMs),
    failure: run.failure?.message,
  };
}
