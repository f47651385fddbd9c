import { type Command, Option } from "commander";
import { SpotterError } from "../../schema/errors.ts";
import { coldStartMs } from "../../schema/cold-start.ts";
import type { Endpoint as EndpointRecord } from "../../schema/endpoint.ts";
import { chat as chatWith, streamChat, type ChatMessage, type ChatOptions } from "../../chat.ts";
import { clientOf } from "../../client.ts";
import { Endpoint } from "../../endpoint.ts";
import { type CliContext, print, printJson, printList } from "../context.ts";
import { integer, number } from "../numbers.ts";
import { logLineText } from "../render/log-line.ts";
import { spendText } from "../render/money.ts";
import { pairs } from "../render/table.ts";
import { ageText, durationText, measuredText } from "../render/time.ts";
import { waitReady } from "../render/wait-ready.ts";
import { printable } from "../render/visible.ts";
import { noun, verb } from "../verb.ts";
import { aliasCommand } from "./alias.ts";
import { hardwareFrom, type HardwareOptions, withHardwareOptions } from "./endpoint-hardware.ts";
import { scaleCommand, scalingFrom, type ScalingOptions, withScalingOptions } from "./endpoint-scale.ts";

export function endpointCommand(context: CliContext): Command {
  return noun(
    "endpoint",
    "Models and checkpoints that answer chat completions",
    [
      launch(context),
      list(context),
      get(context),
      scaleCommand(context),
      stop(context),
      chat(context),
      logs(context),
      aliasCommand(context),
    ],
    [
      "spotter endpoint launch spotter/nano --name nano",
      'spotter endpoint chat nano "Write a haiku about rain."',
      "spotter endpoint stop nano",
    ],
  );
}

function launch(context: CliContext): Command {
  interface Options extends ScalingOptions, HardwareOptions {
    checkpoint?: string;
    name?: string;
    public?: boolean;
    recreate?: boolean;
    force?: boolean;
    wait: boolean;
    json?: boolean;
  }
  const command = verb(
    "launch <model>",
    "Serve a model or a checkpoint of it",
    [
      "spotter endpoint launch spotter/nano --name nano",
      "spotter endpoint launch spotter/nano --checkpoint run-EXAMPLE@60 --name haiku --recreate",
      "spotter endpoint launch ./my-model --name mine",
    ],
    { model: "spotter/nano, a name of `spotter model list`, or a folder: ./my-model" },
  )
    .option("--checkpoint <run@step>", "serve these weights")
    .option("--name <name>", "name to chat with (default: derived from model and checkpoint)")
    .option("--public", "let anyone chat, without a key")
    .option("--recreate", "replace or restart an endpoint of this name")
    .option("--force", "although its memory will most likely not be enough")
    .option("--no-wait", "return before the weights are loaded");
  return withScalingOptions(withHardwareOptions(command)).action(
    async (
      model: string,
      { wait, json, checkpoint, name, public: isPublic, recreate, force, ...rest }: Options,
    ) => {
      const { signal } = context;
      const scaling = scalingFrom(rest);
      const hardware = hardwareFrom(rest);
      const { maxLifetime: maxLifetimeMs, engine, vllm } = rest;
      const endpoint = await Endpoint.launch(model, {
        checkpoint,
        ...(name !== undefined && { name }),
        ...(isPublic !== undefined && { public: isPublic }),
        ...(recreate !== undefined && { recreate }),
        ...(force !== undefined && { force }),
        ...(hardware !== undefined && { hardware }),
        ...(maxLifetimeMs !== undefined && { maxLifetimeMs }),
        ...(engine !== undefined && { engine }),
        ...(vllm !== undefined && { vllm }),
        ...(scaling !== undefined && { scaling }),
        signal,
      });
      if (wait) await waitReady(context, endpoint);
      if (json) return printJson(context, endpoint.record);
      print(context, `${endpoint.name} is ${endpoint.state} at ${context.colors.cyan(endpoint.url)}`);
      for (const note of endpoint.record.notes ?? []) print(context, note);
      const coldStart = coldStartText(endpoint.record);
      if (coldStart !== undefined) print(context, `Its cold start took ${coldStart}.`);
      print(context, `Try: ${context.command(`endpoint chat ${endpoint.name} "Write a haiku about rain."`)}`);
    },
  );
}

function list(context: CliContext): Command {
  return verb("list", "List endpoints", "spotter endpoint list").action(
    async (options: { json?: boolean }) => {
      const records = (await Endpoint.list({ signal: context.signal })).map(({ record }) => record);
      if (options.json) return printJson(context, records);
      const rows = records.map((record) => [
        record.name,
        stateText(record),
        record.checkpoint ?? record.model.name,
        record.public ? "public" : "key",
        ageText(record.createdAtMs, Date.now()),
      ]);
      const header = ["NAME", "STATE", "SERVES", "ACCESS", "CREATED"];
      printList(context, header, rows, "No endpoints yet. Serve one: `spotter endpoint launch spotter/nano`");
    },
  );
}

function get(context: CliContext): Command {
  return verb("get <name>", "Show an endpoint", "spotter endpoint get nano").action(
    async (name: string, options: { json?: boolean }) => {
      const { record } = await Endpoint.get(name, { signal: context.signal });
      if (options.json) return printJson(context, record);
      const lines = pairs({
        name: record.name,
        state: stateText(record),
        model: record.model.name,
        checkpoint: record.checkpoint,
        url: record.url,
        access: record.public ? "public" : "key",
        replicas: `${record.replicas.length} of ${record.desired}`,
        "cold start": coldStartText(record),
        spend: record.spend && spendText(record.spend),
        ends: record.expiresAtMs && `in ${durationText(Math.max(0, record.expiresAtMs - Date.now()))}`,
        note: record.notes?.join("\n"),
        failure: record.failure?.message,
      });
      for (const line of lines) print(context, line);
    },
  );
}

/** One without replicas that will come up with the first request is ready, and asleep. */
function stateText({ state, desired, replicas }: EndpointRecord): string {
  return state === "ready" && desired === 0 && replicas.length === 0 ? "asleep" : state;
}

function stop(context: CliContext): Command {
  return verb("stop <name>", "Stop an endpoint", "spotter endpoint stop nano").action(
    async (name: string, options: { json?: boolean }) => {
      const { signal } = context;
      const endpoint = await Endpoint.get(name, { signal });
      await endpoint.stop({ signal });
      if (options.json) return printJson(context, endpoint.record);
      print(context, `Stopped ${name}.`);
    },
  );
}

function chat(context: CliContext): Command {
  interface Options {
    system?: string;
    maxTokens?: number;
    temperature?: number;
    seed?: number;
    json?: boolean;
  }
  return verb(
    "chat <name> [message...]",
    "Ask an endpoint; without a message, what is piped in",
    [
      'spotter endpoint chat nano "Write a haiku about rain." --temperature 0',
      "spotter endpoint chat nano < question.txt",
    ],
    {
      name: "of the endpoint, an alias, a run or run@step",
      message: "any words; quote what the shell would read",
    },
  )
    .option("--system <text>", "the system message")
    .addOption(new Option("--max-tokens <n>", "longest answer in tokens").argParser(integer))
    .addOption(new Option("--temperature <t>", "0 is the likeliest answer").argParser(number))
    .addOption(new Option("--seed <n>", "same seed, same answer").argParser(integer))
    .action(async (name: string, words: string[], options: Options) => {
      const { signal } = context;
      const content = words.length > 0 ? words.join(" ") : (await context.readInput()).trim();
      if (content === "") {
        throw new SpotterError("invalid_input", "There is nothing to ask.", {
          hint: `\`spotter endpoint chat ${name} "Your question"\`, or pipe it in.`,
        });
      }
      const messages: ChatMessage[] = [
        ...(options.system === undefined ? [] : [{ role: "system" as const, content: options.system }]),
        { role: "user", content },
      ];
      const chatOptions: ChatOptions = {
        signal,
        ...(options.maxTokens === undefined ? {} : { max_tokens: options.maxTokens }),
        ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
        ...(options.seed === undefined ? {} : { seed: options.seed }),
      };
      // By name alone: an alias, a run or a checkpoint answers as well.
      const client = clientOf({ signal });
      if (options.json)
        return printJson(context, (await chatWith(client, name, messages, chatOptions)).completion);
      for await (const delta of streamChat(client, name, messages, chatOptions)) {
        // What is piped on is for programs, and stays as it was sampled.
        const shown = context.isInteractive ? printable : String;
        if (delta.reasoningContent) context.out.write(context.colors.dim(shown(delta.reasoningContent)));
        if (delta.content) context.out.write(shown(delta.content));
      }
      print(context);
    });
}

function logs(context: CliContext): Command {
  return verb("logs <name>", "Show what the newest replica wrote last", "spotter endpoint logs nano").action(
    async (name: string, options: { json?: boolean }) => {
      const { signal } = context;
      const lines = await (await Endpoint.get(name, { signal })).logs({ signal });
      if (options.json) return printJson(context, { lines });
      for (const line of lines) print(context, context.isInteractive ? logLineText(line) : line);
    },
  );
}

function coldStartText(record: EndpointRecord): string | undefined {
  const ms = coldStartMs(record);
  return ms === undefined ? undefined : measuredText(ms);
}
