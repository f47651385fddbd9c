import type { Command } from "commander";
import { Run } from "../../run.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { RUN_ID, verb } from "../verb.ts";

const ARGS = { id: RUN_ID, tags: "none: only show them", text: "what to remember" };

/** What people do to a run that exists. */
export function runLifeVerbs(context: CliContext): Command[] {
  return [
    verb(
      "cancel <id>",
      "Ask a run to save a checkpoint and end",
      "spotter run cancel run-EXAMPLE",
      ARGS,
    ).action(
      change(
        context,
        (run) => run.cancel({ signal: context.signal }),
        (run) => `${run.id} is asked to end; it is ${run.state}.`,
      ),
    ),
    verb(
      "pause <id>",
      "Ask a run to save a checkpoint and wait",
      "spotter run pause run-EXAMPLE",
      ARGS,
    ).action(
      change(
        context,
        (run) => run.pause({ signal: context.signal }),
        (run) => (run.state === "paused" ? `${run.id} is paused.` : `${run.id} pauses once it has saved.`),
      ),
    ),
    verb("resume <id>", "Let a paused run go on", "spotter run resume run-EXAMPLE", ARGS).action(
      change(
        context,
        (run) => run.resume({ signal: context.signal }),
        (run) => `${run.id} goes on; it is ${run.state}.`,
      ),
    ),
    tag(context),
    verb(
      "note <id> <text>",
      "Write a note on a run; an empty one removes it",
      'spotter run note run-EXAMPLE "Best so far"',
      ARGS,
    ).action(async (id: string, notes: string, options: { json?: boolean }) => {
      const run = await (
        await Run.get(id, { signal: context.signal })
      ).update({ notes, signal: context.signal });
      say(context, run, options, run.record.notes ?? `${id} has no note.`);
    }),
    archive(context),
    remove(context),
  ];
}

type Options = { json?: boolean };

function change(
  context: CliContext,
  act: (run: Run) => Promise<Run>,
  textOf: (run: Run) => string,
): (id: string, options: Options) => Promise<void> {
  return async (id, options) => {
    const run = await act(await Run.get(id, { signal: context.signal }));
    say(context, run, options, textOf(run));
  };
}

function tag(context: CliContext): Command {
  return verb(
    "tag <id> [tags...]",
    "Add tags to a run",
    ["spotter run tag run-EXAMPLE best haiku", "spotter run tag run-EXAMPLE haiku --remove"],
    ARGS,
  )
    .option("--remove", "remove these tags instead")
    .action(async (id: string, names: string[], options: Options & { remove?: boolean }) => {
      const run = await Run.get(id, { signal: context.signal });
      const others = run.record.tags.filter((each) => !names.includes(each));
      if (names.length > 0) await run.update({ tags: options.remove ? others : [...others, ...names] });
      say(context, run, options, run.record.tags.join(", ") || `${id} has no tags.`);
    });
}

function archive(context: CliContext): Command {
  return verb(
    "archive <id>",
    "Take a run that has ended out of lists",
    "spotter run archive run-EXAMPLE",
    ARGS,
  )
    .option("--undo", "bring it back")
    .action(async (id: string, options: Options & { undo?: boolean }) => {
      const run = await (
        await Run.get(id, { signal: context.signal })
      ).archive(!options.undo, {
        signal: context.signal,
      });
      const text = options.undo ? `${id} is listed again.` : `${id} is archived; list it with --archived.`;
      say(context, run, options, text);
    });
}

function remove(context: CliContext): Command {
  return verb(
    "delete <id>",
    "Delete a run that has ended, with its checkpoints, rollouts, events and logs",
    "spotter run delete run-EXAMPLE",
    ARGS,
  ).action(async (id: string, options: Options) => {
    await (await Run.get(id, { signal: context.signal })).delete({ signal: context.signal });
    if (options.json) printJson(context, { deleted: id });
    else print(context, `${id} is deleted.`);
  });
}

function say(context: CliContext, run: Run, options: Options, text: string): void {
  if (options.json) printJson(context, run.record);
  else print(context, text);
}
