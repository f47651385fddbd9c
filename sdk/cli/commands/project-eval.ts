import { type Command, InvalidArgumentError } from "commander";
import { Client } from "../../client.ts";
import type { Finding } from "../../config/project-folder/finding.ts";
import type { ResolvedProject } from "../../config/project-folder/resolve-project.ts";
import { Eval } from "../../eval.ts";
import type { PassAt } from "../../schema/pass-at.ts";
import { SpotterError } from "../../schema/errors.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { number } from "../numbers.ts";
import { showEval } from "../render/eval.ts";
import { findingLines, verdictLine } from "../render/findings.ts";
import { Told } from "../told.ts";
import { fillId } from "../fill-id.ts";
import { modelWord } from "../model-word.ts";
import { refuseWords } from "../refuse-words.ts";
import { count, seedNumber } from "./project-test-options.ts";

type ValidProject = NonNullable<ResolvedProject["project"]>;

interface Options {
  dir: string;
  model?: string;
  pass: PassAt[];
  samples?: number;
  threshold: number;
  name?: string;
  seed: number;
  secret?: string[];
  allowPython?: boolean;
  wait: boolean;
  write: boolean;
  json?: boolean;
}

const EXAMPLES = [
  "spotter eval -d my-project --model spotter/nano",
  "spotter eval -d my-project --model run-EXAMPLE@20 --pass 1@0,4,8 --samples 16",
  "spotter eval -d my-project rollout.max_turns=2 --no-wait",
];

/** Lets the noun `eval` evaluate the project of a folder, where no verb follows. */
export function withProjectEval(command: Command, context: CliContext): Command {
  return (
    command
      // Options behind a verb are the verb's.
      .enablePositionalOptions()
      .usage("[options] [key=value...] | eval <verb>")
      .argument("[key=value...]", "values over those of config.yml")
      .option("-d, --dir <folder>", "the project", ".")
      .option("--model <model>", "who answers: a model, an endpoint or a checkpoint (default: the project's)")
      .option("--pass <k>", "pass@k, and at which temperature: 1@0,4,8 (default: 1)", passes)
      .option("--samples <n>", "answers to each row (default: the largest k)", count)
      .option("--threshold <reward>", "from which total on an answer is right, for pass@k", number, 1)
      .option("--name <name>", "name for people (default: the project's)")
      .option("--seed <n>", "same seed, same answers", seedNumber, 0)
      .option("--secret <name...>", "stored secrets that rewards and tools may read")
      .option("--allow-python", "run rewards.py and tools.py, which reach your files and network")
      .option("--no-wait", "print the id and leave")
      .option("--no-write", "do not write the project_id into config.yml")
      .option("--json", "print JSON")
      .addHelpText("after", ["", "A project folder:", ...EXAMPLES.map((line) => `  $ ${line}`)].join("\n"))
      .action((words: string[], options: Options) => projectEval(command, context, words, options))
  );
}

/** `1@0,4,8`, also several times. */
export function passes(text: string, before: PassAt[] = []): PassAt[] {
  const found = text.split(",").map((each): PassAt => {
    const [, k, temperature] = /^(\d{1,4})(?:@(\d+(?:\.\d+)?))?$/.exec(each.trim()) ?? [];
    if (k === undefined)
      throw new InvalidArgumentError("Write k, or k@temperature, with commas between: 1@0,4,8");
    return { k: Number(k), ...(temperature !== undefined && { temperature: Number(temperature) }) };
  });
  return [...before, ...found];
}

async function projectEval(
  command: Command,
  context: CliContext,
  words: string[],
  options: Options,
): Promise<void> {
  refuseWords(command, words);
  const { resolveProject } = await import("../../config/project-folder/resolve-project.ts");
  const { evalLimits, projectEval: paramsOf } = await import("../../config/project-folder/eval-project.ts");
  const { modelNameKind, CATALOGUE } = await import("../../config/project-folder/catalogue.ts");
  const { dir, allowPython, pass = [{ k: 1 }] } = options;
  const model = modelWord(options.model);
  const { signal } = context;
  // What only the server knows takes what the project asks for; models have limits of their own.
  const isModel = model !== undefined && ["catalogue", "folder"].includes(modelNameKind(model, CATALOGUE));
  const resolved = await resolveProject(dir, {
    ...{ overrides: words, allowPython, signal, isTrained: false, ...(isModel && { model }) },
    secrets: options.secret ?? [],
    environment: process.env,
  });
  const { project, runs } = resolved;
  const [run] = runs;
  const findings = [
    ...resolved.findings.filter(({ code }) => code !== "not_applied"),
    ...(project ? evalLimits(project, allowPython) : []),
  ];
  if (!project || !run || findings.some(({ severity }) => severity === "error"))
    return refuse(context, findings, options);
  if (runs.length > 1 && model === undefined) throw severalModels(runs.map((each) => each.model));
  if (!options.json) for (const line of findingLines(findings, context)) print(context, line);
  await fillId(context, project, runs, options);
  const { samples: samplesPerRow, threshold: passThreshold, name, seed, secret: secrets } = options;
  const wanted = { passAt: pass, samplesPerRow, passThreshold, name, seed, secrets, allowPython };
  await launch(context, project, model ?? run.model, { ...paramsOf(project, run, wanted) }, options);
}

async function launch(
  context: CliContext,
  project: ValidProject,
  model: string,
  params: Omit<ConstructorParameters<typeof Eval>[0], "endpoint">,
  options: Options,
): Promise<void> {
  const { signal } = context;
  const { evalEndpoint } = await import("../../config/project-folder/eval-endpoint.ts");
  const endpoint = await evalEndpoint(model, { project, client: () => Client.default(), signal });
  const run = await new Eval({ ...params, endpoint }).launch({ signal });
  if (!options.wait) {
    if (options.json) return printJson(context, run.record);
    print(context, `${run.id} evaluates ${model}: ${context.command(`eval get ${run.id}`)}`);
    return;
  }
  if (!options.json) print(context, `${run.id} evaluates ${model}`);
  await run.result({ signal });
  showEval(context, run.record, options.json);
}

function refuse(context: CliContext, findings: readonly Finding[], { json }: Options): never {
  if (json) printJson(context, { eval: null, findings });
  else {
    for (const line of findingLines(findings, context)) print(context, line);
    print(context, verdictLine(findings, undefined, context.colors));
  }
  throw new Told(2);
}

function severalModels(models: readonly string[]): SpotterError {
  return new SpotterError(
    "invalid_input",
    `model.path names ${models.length} models: ${models.join(", ")}.`,
    {
      where: "--model",
      hint: "Say which one answers with --model.",
    },
  );
}
