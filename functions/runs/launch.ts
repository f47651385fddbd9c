import type { RunEventBody } from "../../sdk/schema/event.ts";
import type { Estimate } from "../../sdk/schema/cost.ts";
import type { Run, RunDetail } from "../../sdk/schema/run.ts";
import type { ModelRef } from "../../sdk/schema/model.ts";
import type { TeacherSpec } from "../../sdk/schema/teacher.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import { getCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { estimateText } from "../../sdk/schema/estimate-text.ts";
import { estimateFor } from "../cost/estimate-run.ts";
import { estimateReplica } from "../cost/estimate-engine.ts";
import { refuseReplica, refuseTooMuch } from "../cost/fit.ts";
import { neededConversion } from "../conversions/source.ts";
import { checkDataset } from "../datasets/datasets.ts";
import { checkRunEngine, engineWarnings } from "../engines/engines.ts";
import { launchOnce } from "../records/launch-once.ts";
import { putFirst } from "../records/update.ts";
import { redacted } from "../secrets/redacted.ts";
import { pinnedModel } from "../models/models.ts";
import { acceptTeacher } from "../teachers/accept.ts";
import { ownTeacher } from "../teachers/serve.ts";
import { checkNamed } from "./check-named.ts";
import { checkSize } from "./check-size.ts";
import { checkUserCode } from "./check-user-code.ts";
import {
  findRun,
  indexesOf,
  outbox,
  runDetail,
  runKey,
  runSpecKey,
  runStream,
  flushOutbox,
  type RunDocument,
  type RunSpecDocument,
} from "./records.ts";

export interface LaunchOptions {
  /** What a client repeats the launch with. */
  key?: string | undefined;
  /** Although it will not fit, or takes days. Default: false. */
  force?: boolean;
}

/**
 * Accepts a run: everything it refers to exists and its rewards were tried on a few rows. The id is final
 * at once; the reconciler starts the work. With a key, the same launch again finds the run of the first.
 */
export function launchRun(
  control: Control,
  given: RunSpec,
  { key, force = false }: LaunchOptions = {},
): Promise<RunDetail> {
  const launch = { kind: "run", key, body: given } as const;
  const made = { nameOf: ({ run }: RunDetail) => run.id, find: (id: string) => runDetail(control, id) };
  return control.gate.begin(async () => {
    checkSize(given);
    return await launchOnce(control, launch, (id) => accept(control, id, given, force), made);
  });
}

async function accept(control: Control, id: string, given: RunSpec, force: boolean): Promise<RunDetail> {
  const known = await findRun(control, id);
  if (known) return accepted(control, known);
  const asked = redacted(control.secrets, given);
  const safe = checkRunEngine(control, asked);
  await checkNamed(control, safe);
  const model = await startModel(control, safe);
  const teacher = await acceptTeacher(control, { ...safe, model });
  const spec = { ...safe, model, ...(teacher && { teacher }) };
  await checkDataset(control, spec.dataset, "dataset");
  if (spec.evalDataset) await checkDataset(control, spec.evalDataset, "evalDataset");
  const converts = await neededConversion(control, id, spec);
  const { estimate, engine } = await estimateFor(control, spec);
  if (!force && spec.engine === "onnx") refuseTooMuch(spec, estimate, engine);
  if (!force) await refuseTeacherTooLarge(control, teacher);
  const warnings = await checkUserCode(control, spec);
  warnings.push(...estimate.notes);
  const facts = estimate.hourlyUsd > 0 ? [estimateText(estimate)] : [];
  warnings.push(...engineWarnings(spec));
  if (asked !== given) warnings.push("The value of a secret stood in the spec; it was replaced.");
  const stored = await putFirst<RunSpecDocument>(control.store, runSpecKey(id), { v: 1, spec });
  const began = newDocument(control, id, stored.spec, estimate, [
    ...facts.map((message) => ({ type: "log" as const, level: "info" as const, message })),
    ...warnings.map((message) => ({ type: "log" as const, level: "warn" as const, message })),
  ]);
  const document = converts === undefined ? began : { ...began, converts };
  return accepted(control, await putFirst(control.store, runKey(id), document, indexesOf(document)));
}

/** Where it has a container of its own. On one machine the run's own estimate has it. */
async function refuseTeacherTooLarge(control: Control, teacher: TeacherSpec | undefined): Promise<void> {
  const model = await ownTeacher(control, teacher);
  if (model === undefined) return;
  const launch = { model, hardware: teacher?.hardware, engine: "onnx" };
  refuseReplica(model.name, await estimateReplica(control, launch), "teacher");
}

async function accepted(control: Control, document: RunDocument): Promise<RunDetail> {
  await flushOutbox(control, document);
  control.bus.notify(runStream(document.run.id));
  control.wake();
  return runDetail(control, document.run.id);
}

/** A run that starts from a checkpoint stays with the weights that one was trained from. */
async function startModel(control: Control, { model, startFrom }: RunSpec): Promise<ModelRef> {
  const start = startFrom && (await getCheckpoint(control, startFrom.checkpoint));
  const isSame = start?.model.name === model.name && model.revision === undefined;
  return isSame ? start.model : pinnedModel(control, model);
}

function newDocument(
  control: Control,
  id: string,
  spec: RunSpec,
  estimate: Estimate,
  told: RunEventBody[],
): RunDocument {
  const run: Run = {
    v: 1,
    id,
    ...(spec.name !== undefined && { name: spec.name }),
    tags: spec.tags,
    kind: spec.kind,
    model: spec.model.name,
    state: "queued",
    step: 0,
    steps: spec.trainer.steps,
    attempt: 0,
    cancelRequested: false,
    metrics: {},
    createdAtMs: control.clock.now(),
  };
  return {
    v: 1,
    run,
    losses: 0,
    estimate,
    ...(spec.limits.durationMs !== undefined && { durationMs: spec.limits.durationMs }),
    ...(spec.limits.maxCostUsd !== undefined && { maxCostUsd: spec.limits.maxCostUsd }),
    ...(spec.limits.stallMs !== undefined && { stallMs: spec.limits.stallMs }),
    ...(spec.webhooks !== undefined && { webhooks: spec.webhooks }),
    ...(spec.trackers !== undefined && spec.trackers.length > 0 && { tracked: true }),
    outbox: outbox(control, 1, [{ type: "state", state: "queued" }, ...told]),
  };
}
