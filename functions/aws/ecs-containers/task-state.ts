import type { Task } from "@aws-sdk/client-ecs";
import type { ContainerState } from "../../ports/containers.ts";
import { startedFor, type StartedFor } from "../aws-containers/names.ts";
import { detailOf, exitReason, notStartedReason } from "../aws-containers/reasons.ts";

/** What is used of a task, whether it was asked for or told by an event. */
export interface TaskView extends StartedFor {
  id: string;
  /** Grows with each change of the task; what is older says nothing. */
  version: number;
  lastStatus: string;
  stopCode?: string;
  stoppedReason?: string;
  createdAtMs: number;
  startedAtMs?: number;
  instanceArn?: string;
  capacityProvider?: string;
  exitCode?: number;
  containerReason?: string;
}

/** The view of a task; undefined where it is none of this stack's. */
export function viewOfTask(stack: string, containerName: string, task: Task): TaskView | undefined {
  const tags = Object.fromEntries((task.tags ?? []).map(({ key = "", value }) => [key, value]));
  const owner = startedFor(stack, tags);
  if (owner === undefined || task.taskArn === undefined) return undefined;
  const container =
    task.containers?.find(({ name }) => name === containerName) ??
    task.containers?.find(({ exitCode, reason }) => exitCode !== undefined || reason !== undefined);
  return {
    ...owner,
    id: task.taskArn,
    version: task.version ?? 0,
    lastStatus: task.lastStatus ?? "PROVISIONING",
    stopCode: task.stopCode,
    stoppedReason: task.stoppedReason,
    createdAtMs: task.createdAt?.getTime() ?? 0,
    startedAtMs: task.startedAt?.getTime(),
    instanceArn: task.containerInstanceArn,
    capacityProvider: task.capacityProviderName,
    exitCode: container?.exitCode,
    containerReason: container?.reason,
  };
}

export function isStopped(task: Pick<TaskView, "lastStatus">): boolean {
  return task.lastStatus === "STOPPED";
}

/** The newer of two views of one task. One that has stopped stays so, whatever comes late. */
export function newerTask(known: TaskView | undefined, seen: TaskView): TaskView {
  if (known === undefined) return seen;
  const isRepeated = known.version === seen.version && known.lastStatus === seen.lastStatus;
  if (isStopped(known) || isRepeated) return known;
  return known.version > seen.version && !isStopped(seen) ? known : seen;
}

/**
 * The state of a task's container.
 *
 * @param why What is known from elsewhere about instances that do not come, for a task that waits.
 */
export function taskState(
  task: TaskView,
  { logTail = [], why = "" }: { logTail?: string[]; why?: string } = {},
): ContainerState {
  switch (task.lastStatus) {
    case "PROVISIONING":
      return waiting(why);
    case "PENDING":
    case "ACTIVATING":
      return { state: "starting" };
    case "STOPPED":
      return exited(task, logTail);
    default:
      // Also while it ends: it is gone when it has stopped.
      return { state: "running", ...(task.startedAtMs !== undefined && { sinceMs: task.startedAtMs }) };
  }
}

function waiting(why: string): ContainerState {
  const reason = notStartedReason(why) ?? "capacity";
  return { state: "waiting", reason, ...(why !== "" && { detail: why }) };
}

function exited(task: TaskView, logTail: string[]): ContainerState {
  const { stopCode, stoppedReason = "", containerReason = "", exitCode = null } = task;
  const words = [stoppedReason, containerReason];
  const reason = exitReason({
    exitCode,
    words,
    isStopped: stopCode === "UserInitiated" || stopCode === "ServiceSchedulerInitiated",
    isPreempted: stopCode === "SpotInterruption" || stopCode === "TerminationNotice",
    isFailedStart: stopCode === "TaskFailedToStart",
    logTail,
  });
  const detail = reason === "done" ? undefined : detailOf(words, exitCode);
  return { state: "exited", exitCode, reason, logTail, ...(detail !== undefined && { detail }) };
}
