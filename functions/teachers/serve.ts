import type { Charge } from "../../sdk/schema/cost.ts";
import type { Run } from "../../sdk/schema/run.ts";
import { endpointCharges } from "../cost/endpoint-spend.ts";
import type { Endpoint, LaunchEndpoint } from "../../sdk/schema/endpoint.ts";
import type { ModelRef } from "../../sdk/schema/model.ts";
import type { TeacherSpec } from "../../sdk/schema/teacher.ts";
import { getCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { launchEndpoint, stopEndpoint } from "../endpoints/endpoints.ts";
import { identityDifferences } from "../endpoints/identity.ts";
import { findEndpoint } from "../endpoints/records.ts";
import { isServing } from "../endpoints/transitions.ts";
import type { DocumentKey } from "../ports/store.ts";
import { collect } from "../records/update.ts";
import { findRun, type RunDocument } from "../runs/records.ts";
import { isTerminalRun } from "../runs/transitions.ts";
import { servingName } from "./accept.ts";

/** An endpoint that a run has for its teacher. Written before it is launched, gone once it was stopped. */
interface OwnedTeacher {
  v: 1;
  runId: string;
  endpoint: string;
}

const TEACHERS = "teachers";

function teacherKey(runId: string): DocumentKey {
  return { partition: TEACHERS, sort: runId };
}

function teacherName(runId: string): string {
  return `teacher-${runId}`;
}

/** What was paid for the teacher that a run has for itself: the same budget pays for both. */
export function teacherCharges(control: Control, { id, kind }: Pick<Run, "id" | "kind">): Promise<Charge[]> {
  return kind === "distill" ? endpointCharges(control, teacherName(id)) : Promise.resolve([]);
}

/**
 * The endpoint that teaches a run whose attempt begins, launched for it unless one of the same weights is up;
 * undefined for a teacher outside. Asking again finds the same.
 */
export async function serveTeacher(
  control: Control,
  runId: string,
  teacher: TeacherSpec,
): Promise<string | undefined> {
  if (teacher.url !== undefined) return undefined;
  if (teacher.endpoint !== undefined) return servingName(teacher.endpoint);
  const launch = await launchOf(control, runId, teacher);
  const other = await findServing(control, launch);
  if (other !== undefined) return other.name;
  const owned: OwnedTeacher = { v: 1, runId, endpoint: launch.name };
  await control.store.put(teacherKey(runId), owned);
  return (await launchEndpoint(control, launch)).name;
}

/** The model that would be served for a run and no longer; undefined where somebody serves it already. */
export async function ownTeacher(
  control: Control,
  teacher: TeacherSpec | undefined,
): Promise<ModelRef | undefined> {
  if (teacher?.model === undefined && teacher?.checkpoint === undefined) return undefined;
  const launch = await launchOf(control, "", teacher);
  return (await findServing(control, launch)) === undefined ? launch.model : undefined;
}

async function launchOf(
  control: Control,
  runId: string,
  { model, checkpoint, hardware }: TeacherSpec,
): Promise<LaunchEndpoint & { name: string }> {
  const weights = checkpoint === undefined ? model : (await getCheckpoint(control, checkpoint)).model;
  if (weights === undefined) throw new Error(`Run ${runId} has a teacher without weights`);
  return {
    // Under a name of its own it can be stopped with the run, whatever else serves the same weights.
    name: teacherName(runId),
    model: weights,
    ...(checkpoint !== undefined && { checkpoint }),
    ...(hardware && { hardware }),
    engine: "onnx",
    public: false,
    recreate: false,
    // Steps of a large student take longer than an endpoint stays awake.
    scaling: { min: 1, max: 1 },
  };
}

/** Somebody's endpoint of the same weights: it stays theirs. Those of other runs end with them. */
async function findServing(control: Control, launch: LaunchEndpoint): Promise<Endpoint | undefined> {
  await control.routes.load();
  const owned = new Set((await ownedTeachers(control)).map(({ endpoint }) => endpoint));
  return control.routes
    .all()
    .filter((each) => isServing(each) && !each.implicit && !owned.has(each.name))
    .find((each) => identityDifferences(each, launch).length === 0);
}

function ownedTeachers(control: Control): Promise<OwnedTeacher[]> {
  return collect<OwnedTeacher>((after) =>
    control.store.query(TEACHERS, after === undefined ? {} : { after }),
  );
}

/** Whether a run goes on, now or after another attempt. A paused one holds nothing. */
export function needsTeacher(document: RunDocument | undefined): boolean {
  if (document === undefined || document.deletedAtMs !== undefined) return false;
  return !isTerminalRun(document.run.state) && document.run.state !== "paused";
}

/** Stops what was launched for runs that no longer need it. Repeated by every look until it is done. */
export async function releaseTeachers(control: Control): Promise<void> {
  for (const { runId, endpoint } of await ownedTeachers(control)) {
    if (needsTeacher(await findRun(control, runId))) continue;
    if (await findEndpoint(control, endpoint)) await stopEndpoint(control, endpoint);
    await control.store.delete(teacherKey(runId));
  }
}
