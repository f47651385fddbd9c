import type { DatasetRow } from "./schema/dataset.ts";
import { SpotterError } from "./schema/errors.ts";
import { parseWith } from "./schema/parse.ts";
import { runSpec, type RunSpec } from "./schema/run-spec.ts";
import { isLearnable, type LearnRole } from "./schema/sft-algorithm.ts";
import { checkpointIdOf } from "./checkpoint.ts";
import type { Client } from "./client.ts";
import type { Dataset } from "./dataset.ts";
import { OverlapWatch } from "./dataset-overlap.ts";
import { inTurns, loadEnvironments } from "./environment-tasks.ts";
import { modelOf } from "./model.ts";
import { packPython } from "./python-bundle.ts";
import { pythonSpec, splitPython } from "./python-params.ts";
import { rewardsFile, rewardsSetup } from "./rewards-params.ts";
import { slimeParts } from "./slime-recipe.ts";
import { teacherOf } from "./teacher.ts";
import { trackersOf } from "./trackers.ts";
import type { TrainConfigParams } from "./train-config.ts";
import {
  checkedRows,
  packDataset,
  packRows,
  packUserCode,
  type Packed,
  type PackedDataset,
} from "./upload.ts";

/** A run as it will be sent, and what it refers to. */
export interface Prepared {
  spec: RunSpec;
  datasets: PackedDataset[];
  code: Packed<{ sha256: string }>[];
}

/**
 * Loads, formats and bundles everything that a config names. What is packed goes into `datasets` at once, so that its
 * files can be removed whatever happens. Only environments need the server: their tasks are loaded there.
 */
export async function prepareRun(
  params: TrainConfigParams,
  client: () => Client,
  datasets: PackedDataset[],
  signal: AbortSignal | undefined,
): Promise<Prepared> {
  const { rewards, tools, python } = splitPython(params);
  const {
    dataset,
    environments = [],
    evalDataset,
    evalEnvironments = [],
    allowOverlap = false,
    recipe,
    startFrom,
    adapter,
    secrets = [],
    model,
    trackers,
    teacher,
    ...rest
  } = withoutCode(params);
  const { evalEvery, ...recipeSpec } = recipe;
  if (recipe.slime !== undefined && rest.slime !== undefined)
    throw new SpotterError(
      "invalid_input",
      "slime's settings are given twice: in the recipe, and beside it.",
      {
        where: "slime",
        hint: "Give all of them to recipes.slime.",
      },
    );
  const { algorithm } = recipe;
  const check = algorithm.kind === "sft" ? needsAnswer(algorithm.learnRoles) : needsPrompt;
  const bundled = (file: URL | string | undefined) => (file === undefined ? undefined : packUserCode(file));
  const code = await bundled(rewards && rewardsFile(rewards));
  const toolCode = await bundled(tools && rewardsFile(tools));
  const pythonCode = python && packPython(python);
  const overlap = evalDataset && !allowOverlap ? new OverlapWatch() : undefined;
  const played =
    environments.length + evalEnvironments.length === 0
      ? undefined
      : await loadEnvironments(client(), environments, evalEnvironments, { secrets, signal });
  const pack = async (
    each: Dataset | undefined,
    tasks: DatasetRow[][] = [],
    note: (row: DatasetRow) => void,
  ) => {
    const checked = (row: DatasetRow, index: number) => {
      check(row, index);
      note(row);
    };
    const packed = await packAll(each, tasks, checked);
    if (packed) datasets.push(packed);
    return packed;
  };
  const train = await pack(dataset, played?.train, (row) => overlap?.train(row));
  const held = await pack(evalDataset, played?.held, (row) => overlap?.hold(row));
  overlap?.refuse();
  if (train === undefined) throw noTasks();
  const spec = parseWith(
    runSpec,
    {
      ...recipeSpec,
      ...(recipe.engine === "slime" && slimeParts(recipe.slime ?? {})),
      ...rest,
      ...(evalEvery === undefined ? {} : { evalEvery }),
      model: modelOf(model).ref,
      ...(teacher !== undefined && { teacher: teacherOf(teacher) }),
      dataset: train.ref,
      ...(held && { evalDataset: held.ref }),
      ...(rewards && code && { rewards: rewardsSetup(rewards, code, secrets) }),
      ...(tools && toolCode && { tools: rewardsSetup(tools, toolCode, secrets) }),
      ...(python && pythonCode && { python: pythonSpec(python, pythonCode.ref, secrets) }),
      ...(played && { environments: played.setups }),
      ...(adapter && { adapter: typeof adapter === "string" ? { kind: adapter } : await withShape(adapter) }),
      ...(trackers && { trackers: trackersOf(trackers, { cwd: process.cwd(), environment: process.env }) }),
      ...(startFrom !== undefined && { startFrom: startPoint(startFrom) }),
    },
    "TrainConfig",
  );
  return { spec, datasets, code: [code, toolCode, pythonCode].filter((each) => each !== undefined) };
}

/** What goes into the spec as it is, or after what is done here. */
function withoutCode({
  rewards: _rewards,
  tools: _tools,
  allowPython: _allowPython,
  ...rest
}: TrainConfigParams) {
  return rest;
}

/** Rows of a dataset and tasks of environments as one dataset; undefined where there are none. */
async function packAll(
  dataset: Dataset | undefined,
  tasks: DatasetRow[][],
  check: (row: DatasetRow, index: number) => void,
): Promise<PackedDataset | undefined> {
  const some = tasks.filter((each) => each.length > 0);
  if (some.length === 0) return dataset && packDataset(dataset, check);
  const rows = dataset ? [checkedRows(dataset, check)] : [];
  return packRows(inTurns([...rows, ...some]), () => dataset ?? {});
}

/** An adapter that exists says itself what it is. */
async function withShape(adapter: Exclude<NonNullable<TrainConfigParams["adapter"]>, string>) {
  if (adapter.kind === "full" || adapter.from === undefined) return adapter;
  const { adapterFrom } = await import("./peft-adapter.ts");
  return adapterFrom({ ...adapter, from: adapter.from });
}

function startPoint(startFrom: NonNullable<TrainConfigParams["startFrom"]>) {
  if (typeof startFrom === "string" || !("checkpoint" in startFrom))
    return { checkpoint: checkpointIdOf(startFrom) };
  const { checkpoint, mode } = startFrom;
  return { checkpoint: checkpointIdOf(checkpoint), ...(mode === undefined ? {} : { mode }) };
}

function needsAnswer(learnRoles: LearnRole[] | undefined): (row: DatasetRow, index: number) => void {
  const what = learnRoles === undefined ? "no answer" : `nothing of ${learnRoles.join(", ")}`;
  return (row, index) => {
    if (isLearnable(row, { learnRoles })) return;
    throw new SpotterError("dataset_invalid", `Row ${index} has ${what} to learn.`, {
      hint: "Set outputColumn, or textColumn for whole texts, or return a completion from format().",
    });
  };
}

function needsPrompt(row: DatasetRow, index: number): void {
  if (row.text === undefined) return;
  throw new SpotterError(
    "dataset_invalid",
    `Row ${index} is a text without a prompt that could be answered.`,
    {
      hint: "Learn texts with recipes.sft, or set inputColumn instead of textColumn.",
    },
  );
}

function noTasks(): SpotterError {
  return new SpotterError("dataset_empty", "The environments have no tasks.", {
    where: "environments",
    hint: "Let load return at least one task; look at the args it gets.",
  });
}
