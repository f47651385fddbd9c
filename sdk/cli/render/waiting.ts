import { Run } from "../../run.ts";
import type { RunState } from "../../schema/run.ts";

const AT_WORK: readonly RunState[] = ["provisioning", "starting", "running", "saving"];

/** Why a run waits. */
export function waitingText(waitingFor: string, waitsOn: string | undefined): string {
  return waitsOn === undefined
    ? `waiting for ${waitingFor}`
    : `waits for ${waitsOn} to end: one training at a time`;
}

/** The run that takes this machine's one place for trainings. Elsewhere capacity is another matter. */
export async function occupantOf(id: string, signal: AbortSignal): Promise<string | undefined> {
  if (process.env.SPOTTER_URL) return undefined;
  const runs = await Run.list({ limit: 50, signal });
  const others = runs.filter(
    (run) => run.id !== id && run.waitingFor === undefined && AT_WORK.includes(run.state),
  );
  return others.length === 1 ? others[0]?.id : undefined;
}
