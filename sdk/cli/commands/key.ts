import { type Command, InvalidArgumentError, Option } from "commander";
import type { KeyRecord, KeyScope } from "../../schema/key.ts";
import { SpotterError } from "../../schema/errors.ts";
import { Key } from "../../key.ts";
import { type CliContext, print, printJson, printList } from "../context.ts";
import { integer } from "../numbers.ts";
import { ageText } from "../render/time.ts";
import { noun, verb } from "../verb.ts";
import { keyBootstrapCommand } from "./key-bootstrap.ts";

export function keyCommand(context: CliContext): Command {
  return noun(
    "key",
    "Keys that let other programs and people in",
    [create(context), list(context), update(context), revoke(context), keyBootstrapCommand(context)],
    ["export SPOTTER_KEY=$(spotter key create app)", "spotter key list", "spotter key revoke EXAMPLE"],
  );
}

function create(context: CliContext): Command {
  interface Options {
    name?: string;
    scope: KeyScope;
    endpoint?: string[];
    requestsPerMinute?: number;
    tokensPerMinute?: number;
    tokensPerMonth?: number;
    json?: boolean;
  }
  return verb(
    "create [name]",
    "Make a key; it is shown this once",
    [
      "spotter key create website --endpoint haiku --requests-per-minute 60 --tokens-per-month 5000000",
      "spotter key create ci --scope write",
    ],
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
    .option("--endpoint <name...>", "endpoints or aliases a chat key may use (default: all)")
    .addOption(new Option("--requests-per-minute <n>", "default: no limit").argParser(limit))
    .addOption(
      new Option("--tokens-per-minute <n>", "prompt and completion (default: no limit)").argParser(limit),
    )
    .addOption(
      new Option("--tokens-per-month <n>", "prompt and completion (default: no limit)").argParser(limit),
    )
    .action(async (word: string | undefined, { scope, endpoint, json, name: option, ...rest }: Options) => {
      const { signal } = context;
      const name = nameOf(word, option);
      const limits = Object.keys(rest).length > 0 ? { limits: rest } : {};
      const created = await Key.create({
        ...{ name, scope, signal, ...limits },
        ...(endpoint && { endpoints: endpoint }),
      });
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
  const description = "List keys and what they used this month";
  return verb("list", description, "spotter key list").action(async (options: { json?: boolean }) => {
    const keys = await Key.list({ signal: context.signal });
    if (options.json) return printJson(context, keys);
    const rows = keys.map((key) => [
      key.id,
      key.name,
      key.scope,
      key.endpoints?.join(",") ?? "all",
      key.usage?.requests ?? 0,
      usedText(key),
      key.revokedAtMs === undefined ? "valid" : "revoked",
      ageText(key.createdAtMs, Date.now()),
    ]);
    const header = ["ID", "NAME", "SCOPE", "ENDPOINTS", "REQUESTS", "TOKENS", "STATE", "CREATED"];
    printList(context, header, rows, "No keys yet. Make one: `spotter key create website`");
  });
}

/** Of this month; of how many, where there is a budget. */
function usedText({ usage, limits }: KeyRecord): string {
  const used = usage === undefined ? 0 : usage.promptTokens + usage.completionTokens;
  return limits?.tokensPerMonth === undefined ? String(used) : `${used} of ${limits.tokensPerMonth}`;
}

function update(context: CliContext): Command {
  type Limit = number | "none";
  interface Options {
    endpoint?: string[];
    requestsPerMinute?: Limit;
    tokensPerMinute?: Limit;
    tokensPerMonth?: Limit;
    json?: boolean;
  }
  const none = `or "none"`;
  return verb(
    "update <id>",
    "Change what a key may use, within two seconds",
    [
      "spotter key update EXAMPLE --requests-per-minute 120",
      "spotter key update EXAMPLE --tokens-per-month none --endpoint haiku",
    ],
    { id: "as `spotter key list` prints it" },
  )
    .option("--endpoint <name...>", `endpoints or aliases it may use, or "all"`)
    .addOption(new Option("--requests-per-minute <n>", none).argParser(limitOrNone))
    .addOption(new Option("--tokens-per-minute <n>", none).argParser(limitOrNone))
    .addOption(new Option("--tokens-per-month <n>", none).argParser(limitOrNone))
    .action(async (id: string, { endpoint, json, ...limits }: Options) => {
      const record = await Key.update(id, {
        signal: context.signal,
        limits: Object.fromEntries(
          Object.entries(limits).map(([name, value]) => [name, value === "none" ? null : value]),
        ),
        ...(endpoint && { endpoints: endpoint.includes("all") ? null : endpoint }),
      });
      if (json) return printJson(context, record);
      print(context, `Changed ${record.name}.`);
    });
}

function limit(text: string): number {
  const value = integer(text);
  if (value < 1) throw new InvalidArgumentError("It must be at least 1.");
  return value;
}

function limitOrNone(text: string): number | "none" {
  return text === "none" ? text : limit(text);
}

function revoke(context: CliContext): Command {
  return verb("revoke <id>", "Make a key useless at once", "spotter key revoke EXAMPLE", {
    id: "as `spotter key list` prints it",
  }).action(async (id: string, options: { json?: boolean }) => {
    await Key.revoke(id, { signal: context.signal });
    if (options.json) return printJson(context, { revoked: id });
    print(context, `Revoked ${id}.`);
  });
}
