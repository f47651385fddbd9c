import type { Command } from "commander";
import { SpotterError } from "../../schema/errors.ts";
import { Secret } from "../../secret.ts";
import { type CliContext, print, printJson, teach } from "../context.ts";
import { noun, verb } from "../verb.ts";

/** The control plane does not hide shorter values in what it stores and logs. */
const MIN_HIDDEN_LENGTH = 6;

export function secretCommand(context: CliContext): Command {
  return noun(
    "secret",
    "Named values that rewards may be granted",
    [set(context), list(context), remove(context)],
    ["pass show judge | spotter secret set JUDGE_KEY", "spotter secret list"],
  );
}

function set(context: CliContext): Command {
  return verb(
    "set <name>",
    "Set a secret to what is piped in, or typed unseen: no shell history and no list of processes has it",
    ["spotter secret set JUDGE_KEY", "pass show judge | spotter secret set JUDGE_KEY"],
    { name: 'as rewards ask for it: args.secrets.JUDGE_KEY, once `secrets: ["JUDGE_KEY"]` grants it' },
  ).action(async (name: string, options: { json?: boolean }) => {
    const text = await context.readSecret(`Value of ${name}: `);
    if (text === "") {
      throw new SpotterError("invalid_input", `There is no value for ${name}.`, {
        hint: `Pipe it in: printf %s "$VALUE" | ${context.command(`secret set ${name}`)}`,
      });
    }
    await Secret.set(name, text, { signal: context.signal });
    if (options.json) return printJson(context, { name });
    print(context, `Set ${name}.`);
    if (text.length < MIN_HIDDEN_LENGTH) {
      const least = `${MIN_HIDDEN_LENGTH} characters`;
      context.err.write(`It has less than ${least}: logs will show it where it occurs, like any word.\n`);
    }
  });
}

function list(context: CliContext): Command {
  return verb("list", "List the names of secrets", "spotter secret list").action(
    async (options: { json?: boolean }) => {
      const names = await Secret.list({ signal: context.signal });
      if (options.json) return printJson(context, names);
      for (const name of names) print(context, name);
      if (names.length === 0 && context.isInteractive)
        teach(context, "No secrets yet. Set one: `spotter secret set JUDGE_KEY`");
    },
  );
}

function remove(context: CliContext): Command {
  return verb("remove <name>", "Remove a secret", "spotter secret remove JUDGE_KEY").action(
    async (name: string, options: { json?: boolean }) => {
      await Secret.remove(name, { signal: context.signal });
      if (options.json) return printJson(context, { removed: name });
      print(context, `Removed ${name}.`);
    },
  );
}
