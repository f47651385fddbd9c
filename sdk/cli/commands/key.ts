import { type Command, Option } from "commander";
import type { KeyScope } from "../../schema/key.ts";
import { SpotterError } from "../../schema/errors.ts";
import { Key } from "../../key.ts";
import { type CliContext, print, printJson, printList } from "../context.ts";
import { ageText } from "../render/time.ts";
import { noun, verb } from "../verb.ts";

export function keyCommand(context: CliContext): Command {
  return noun(
    "key",
    "Keys that let other programs and people in",
    [create(context), list(context), revoke(context)],
    ["export SPOTTER_KEY=$(spotter key create app)", "spotter key list", "spotter key revoke 01jd"],
  );
}

function create(context: CliContext): Command {
  interface Options {
    name?: string;
    scope: KeyScope;
    endpoint?: string[];
    json?: boolean;
  }
  return verb(
    "create [name]",
    "Make a key; it is shown this once",
    ["spotter key create website --endpoint haiku", "spotter key create ci --scope write"],
    { name: "for people: who has it" },
  )
    .option("--name <name>", "the same as the name alone")
    .addOption(
      new Option(
        "--scope <scope>",
        "chat with endpoints; write: also launch and read work; admin: everything",
      )
        .choices(["admin", "write", "chat"])
        .default("chat"),
    )
    .option("--endpoint <name...>", "endpoints a chat key may use (default: all)")
    .action(async (word: string | undefined, { scope, endpoint, json, ...options }: Options) => {
      const { signal } = context;
      const name = nameOf(word, options.name);
      const created = await Key.create({ name, scope, ...(endpoint && { endpoints: endpoint }), signal });
      if (json) return printJson(context, created);
      print(context, created.key);
      context.err.write(
        `This is the only time it is shown. Revoke it: ${context.command(`key revoke ${created.record.id}`)}\n`,
      );
    });
}

function nameOf(word: string | undefined, option: string | undefined): string {
  const name = word ?? option;
  if (name !== undefined && (option ?? name) === name) return name;
  const what = name === undefined ? "The key has no name." : `The key has two names, ${name} and ${option}.`;
  throw new SpotterError("invalid_input", what, { where: "name", hint: "`spotter key create website`" });
}

function list(context: CliContext): Command {
  return verb("list", "List keys", "spotter key list").action(async (options: { json?: boolean }) => {
    const keys = await Key.list({ signal: context.signal });
    if (options.json) return printJson(context, keys);
    const rows = keys.map((key) => [
      key.id,
      key.name,
      key.scope,
      key.endpoints?.join(",") ?? "all",
      key.revokedAtMs === undefined ? "valid" : "revoked",
      ageText(key.createdAtMs, Date.now()),
    ]);
    const header = ["ID", "NAME", "SCOPE", "ENDPOINTS", "STATE", "CREATED"];
    printList(context, header, rows, "No keys yet. Make one: `spotter key create website`");
  });
}

function revoke(context: CliContext): Command {
  return verb("revoke <id>", "Make a key useless at once", "spotter key revoke 01jd", {
    id: "as `spotter key list` prints it",
  }).action(async (id: string, options: { json?: boolean }) => {
    await Key.revoke(id, { signal: context.signal });
    if (options.json) return printJson(context, { revoked: id });
    print(context, `Revoked ${id}.`);
  });
}
