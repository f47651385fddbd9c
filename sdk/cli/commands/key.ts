import { type Command, Option } from "commander";
import type { KeyScope } from "../../schema/key.ts";
import { Key } from "../../key.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { table } from "../render/table.ts";
import { ageText } from "../render/time.ts";
import { noun, verb } from "../verb.ts";

export function keyCommand(context: CliContext): Command {
  return noun("key", "Keys that let others in", [create(context), list(context), revoke(context)]);
}

function create(context: CliContext): Command {
  interface Options {
    scope: KeyScope;
    endpoint?: string[];
    json?: boolean;
  }
  return verb(
    "create <name>",
    "Make a key; it is shown this once",
    "spotter key create website --scope chat --endpoint haiku",
  )
    .addOption(
      new Option("--scope <scope>", "what it may do").choices(["admin", "write", "chat"]).default("chat"),
    )
    .option("--endpoint <name...>", "endpoints a chat key may use (default: all)")
    .action(async (name: string, { scope, endpoint, json }: Options) => {
      const { signal } = context;
      const created = await Key.create({ name, scope, ...(endpoint && { endpoints: endpoint }), signal });
      if (json) return printJson(context, created);
      print(context, created.key);
      context.err.write(
        `This is the only time it is shown. Revoke it: spotter key revoke ${created.record.id}\n`,
      );
    });
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
    for (const line of table(header, rows)) print(context, line);
  });
}

function revoke(context: CliContext): Command {
  return verb("revoke <id>", "Make a key useless at once", "spotter key revoke 01jd").action(
    async (id: string, options: { json?: boolean }) => {
      await Key.revoke(id, { signal: context.signal });
      if (options.json) return printJson(context, { revoked: id });
      print(context, `Revoked ${id}.`);
    },
  );
}
