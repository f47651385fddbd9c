import { type Command, Option } from "commander";
import type { WebhookRecord } from "../../schema/webhook.ts";
import { Webhook } from "../../webhook.ts";
import { type CliContext, print, printJson, printList } from "../context.ts";
import { ageText } from "../render/time.ts";
import { oneLine } from "../render/visible.ts";
import { noun, verb } from "../verb.ts";

export function webhookCommand(context: CliContext): Command {
  return noun("webhook", "Addresses that are told of every run", [
    set(context),
    list(context),
    remove(context),
  ]);
}

function set(context: CliContext): Command {
  interface Options {
    event?: WebhookRecord["events"];
    secret?: string;
    json?: boolean;
  }
  return verb(
    "set <url>",
    "Tell an address of every run; the same one again replaces what was set",
    "spotter webhook set https://example.com/hook --event run.stalled --secret HOOK_KEY",
  )
    .addOption(
      new Option("--event <name...>", "what it is told (default: all)").choices(["run.ended", "run.stalled"]),
    )
    .option("--secret <name>", "sign with this secret; `spotter secret set` stores its value")
    .action(async (url: string, { event, secret, json }: Options) => {
      const params = { ...(event && { events: event }), ...(secret !== undefined && { secret }) };
      const record = await Webhook.set(url, { ...params, signal: context.signal });
      if (json) return printJson(context, record);
      const signed = record.secret === undefined ? "unsigned" : `signed with ${oneLine(record.secret)}`;
      print(
        context,
        `${oneLine(record.url)} is told of ${record.events.join(" and ")} of every run, ${signed}.`,
      );
    });
}

function list(context: CliContext): Command {
  return verb("list", "List the webhooks of every run", "spotter webhook list").action(
    async (options: { json?: boolean }) => {
      const records = await Webhook.list({ signal: context.signal });
      if (options.json) return printJson(context, records);
      const rows = records.map((record) => [
        record.id,
        record.url,
        record.events.join(","),
        record.secret ?? "",
        ageText(record.createdAtMs, Date.now()),
      ]);
      const header = ["ID", "URL", "EVENTS", "SECRET", "SET"];
      const empty = "No webhooks yet. Set one: `spotter webhook set https://example.com/hook`";
      printList(context, header, rows, empty);
    },
  );
}

function remove(context: CliContext): Command {
  return verb("remove <id>", "Remove a webhook", "spotter webhook remove 6c1f0a2b3d4e5f60").action(
    async (id: string, options: { json?: boolean }) => {
      await Webhook.remove(id, { signal: context.signal });
      if (options.json) return printJson(context, { removed: id });
      print(context, `Removed ${oneLine(id)}.`);
    },
  );
}
