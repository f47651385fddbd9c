import { resolve } from "node:path";
import type { Command } from "commander";
import type { Finding } from "../../config/project-folder/finding.ts";
import type { ProjectRun, ResolvedProject } from "../../config/project-folder/resolve-project.ts";
import type { Run } from "../../run.ts";
import { estimateText } from "../../schema/estimate-text.ts";
import { SpotterError } from "../../schema/errors.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { fillId } from "../fill-id.ts";
import { followRun } from "../follow-run.ts";
import { modelWord } from "../model-word.ts";
import { refuseWords } from "../refuse-words.ts";
import { findingLines, verdictLine } from "../render/findings.ts";
import { trackerLine } from "../render/run-facts.ts";
import { Told } from "../told.ts";
import { trackerFlags, trackersFrom, withTrackerOptions, type TrackerOptions } from "./tracker-options.ts";

interface Options extends TrackerOptions {
  dir: string;
  model?: string;
  teacher?: string;
  dryRun?: boolean;
  secret?: string[];
  allowPython?: boolean;
  watch?: boolean;
  write: boolean;
  force?: boolean;
  json?: boolean;
}

type ValidProject = NonNullable<ResolvedProject["project"]>;

const EXAMPLES = [
  "spotter run -d my-project",
  "spotter run -d my-project trainer.num_epochs=1 --model spotter/nano",
  "spotter run -d my-project --dry-run --json",
];

/** Lets the noun `run` launch the project of a folder, where no verb follows. */
export function withProjectRun(command: Command, context: CliContext): Command {
  return withTrackerOptions(
    command
      // Options behind a verb are the verb's.
      .enablePositionalOptions()
      .usage("[options] [key=value...] | run <verb>")
      .argument("[key=value...]", "values over those of config.yml")
      .option("-d, --dir <folder>", "the project", ".")
      .option("--model <model>", "train this one instead, with what it takes")
      .option("--teacher <model>", "distill from this one instead")
      .option("--dry-run", "print what would run, and whence each value comes; writes and starts nothing")
      .option("--secret <name...>", "stored secrets that rewards and tools may read")
      .option("--allow-python", "run rewards.py and tools.py, which reach your files and network")
      .option("--force", "launch what will most likely not fit, or takes more than a day")
      .option("--watch", "follow the run until it ends")
      .option("--no-write", "do not write the project_id into config.yml")
      .option("--json", "print JSON")
      .addHelpText("after", ["", "A project folder:", ...EXAMPLES.map((line) => `  $ ${line}`)].join("\n"))
      .action((words: string[], options: Options) => projectRun(command, context, words, options)),
  );
}

async function projectRun(
  command: Command,
  context: CliContext,
  words: string[],
  options: Options,
): Promise<void> {
  refuseWords(command, words);
  const { resolveProject } = await import("../../config/project-folder/resolve-project.ts");
  const { dir, allowPython } = options;
  const { signal } = context;
  const resolved = await resolveProject(dir, {
    overrides: words,
    model: modelWord(options.model),
    teacher: modelWord(options.teacher),
    allowPython,
    secrets: options.secret ?? [],
    signal,
    environment: process.env,
  });
  return options.dryRun ? dryRun(context, resolved, options) : launch(context, resolved, options);
}

async function dryRun(context: CliContext, resolved: ResolvedProject, options: Options): Promise<void> {
  const { project, findings } = resolved;
  const results = [];
  for (const run of resolved.runs)
    results.push(await described(project as ValidProject, run, findings, options));
  const nothing = { spec: null, provenance: {}, findings, native: null };
  const isList = Array.isArray(project?.config.model.path);
  if (options.json) printJson(context, isList ? results : (results[0] ?? nothing));
  else {
    const { planLines } = await import("../render/plan.ts");
    const { dryRunEstimateText } = await import("../../config/project-folder/dry-run-estimate.ts");
    for (const { spec, provenance, estimate } of results) {
      for (const line of planLines(spec, provenance, context.colors)) print(context, line);
      if (estimate) print(context, dryRunEstimateText(estimate));
      print(context);
    }
    printFindings(context, results.length > 0 ? unique(results.flatMap((each) => each.findings)) : findings);
  }
  if (!project) throw new Told(2);
}

async function described(
  project: ValidProject,
  run: ProjectRun,
  findings: readonly Finding[],
  options: Options,
) {
  const { plan, limits } = run;
  // What cannot run here resolves all the same; whoever launches it is told.
  const { sourcesOf } = await import("../../config/project-folder/plan.ts");
  const told = limits.map((each) => ({ ...each, severity: "warning" as const }));
  if (limits.length > 0)
    return {
      spec: plan.spec,
      provenance: sourcesOf(plan.spec, plan.provenance),
      findings: [...findings, ...told],
      native: null,
      estimate: undefined,
    };
  const { nativeSpec } = await import("../../config/project-folder/launch-project.ts");
  const { secret: secrets = [], allowPython } = options;
  const trackers = trackersFrom(options);
  const spec = await nativeSpec(project, run, { secrets, allowPython, trackers });
  const provenance = { ...plan.provenance, ...(trackers.length > 0 && { trackers: trackerFlags(options) }) };
  const native = { engine: spec.engine, spec };
  const { dryRunEstimate } = await import("../../config/project-folder/dry-run-estimate.ts");
  const estimate = dryRunEstimate(spec, resolve(project.folder, project.trainFile));
  return { spec, provenance: sourcesOf(spec, provenance), findings: [...findings], native, estimate };
}

async function launch(context: CliContext, resolved: ResolvedProject, options: Options): Promise<void> {
  const { project } = resolved;
  const limits = resolved.runs.flatMap((run) => run.limits);
  const findings = unique([...resolved.findings, ...limits]);
  if (!project || limits.length > 0) {
    if (options.json) printJson(context, { runs: [], findings });
    else printFindings(context, findings);
    throw new Told(2);
  }
  if (!options.json) for (const line of findingLines(findings, context)) print(context, line);
  await fillId(context, project, resolved.runs, options);
  const { launchProjectRun } = await import("../../config/project-folder/launch-project.ts");
  const { signal } = context;
  const { secret: secrets, allowPython } = options;
  const { force = false } = options;
  const trackers = trackersFrom(options);
  const started: Run[] = [];
  const failures: { model: string; error: SpotterError }[] = [];
  for (const run of resolved.runs) {
    try {
      const each = await launchProjectRun(project, run, { secrets, allowPython, trackers, force, signal });
      started.push(each);
      await describe(context, each, project.config.description);
      if (!options.json)
        print(context, `${each.id} trains ${run.model}: ${context.command(`run watch ${each.id}`)}`);
      if (!options.json && each.estimate) print(context, estimateText(each.estimate));
      for (const tracker of options.json ? [] : (each.spec.trackers ?? []))
        print(context, trackerLine(each.id, tracker));
    } catch (error) {
      context.signal.throwIfAborted();
      failures.push({ model: run.model, error: SpotterError.from(error) });
    }
  }
  // One model that fails keeps none of the others back, and is not forgotten.
  if (resolved.runs.length > 1 && !options.json)
    for (const { model, error } of failures) print(context, `${model} was not launched: ${error.message}`);
  if (options.json && (started.length > 0 || failures.length === 0))
    printJson(context, {
      runs: started.map(({ id, url, record }) => ({ id, url, model: record.model })),
      failed: failures.map(({ model, error }) => ({ model, ...error.toBody() })),
      findings,
    });
  for (const run of options.watch ? started : []) {
    if (options.json) await run.result({ signal });
    else await followRun(context, run);
  }
  if (failures[0]) throw failures[0].error;
}

/** The project's description is the run's note. The run goes on without it. */
async function describe(context: CliContext, run: Run, description: string | null): Promise<void> {
  if (!description) return;
  try {
    await run.update({ notes: description, signal: context.signal });
  } catch (error) {
    context.signal.throwIfAborted();
    context.err.write(`${run.id} has no description: ${SpotterError.from(error).message}\n`);
  }
}

function printFindings(context: CliContext, findings: readonly Finding[]): void {
  for (const line of findingLines(findings, context)) print(context, line);
  print(context, verdictLine(findings, undefined, context.colors));
}

function unique(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((each) => [JSON.stringify(each), each])).values()];
}
