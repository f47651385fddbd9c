import type { RunEvent } from "../../schema/event.ts";
import type { RunPhase, RunState } from "../../schema/run.ts";

/** What a run looks like right now, drawn from its events alone. */
export interface RunProgress {
  state: RunState;
  waitingFor: string | undefined;
  /** The run whose end it waits for, where that is known. */
  waitsOn: string | undefined;
  phase: RunPhase | undefined;
  step: number;
  steps: number;
  metrics: Record<string, number>;
  /** Time of the first and last metrics, to tell how long the rest takes. */
  firstStep: { step: number; atMs: number } | undefined;
  lastStep: { step: number; atMs: number } | undefined;
  checkpoints: string[];
}

export function newProgress(steps: number): RunProgress {
  return {
    state: "queued",
    waitingFor: undefined,
    waitsOn: undefined,
    phase: undefined,
    step: 0,
    steps,
    metrics: {},
    firstStep: undefined,
    lastStep: undefined,
    checkpoints: [],
  };
}

/** The progress after one more event. */
export function advance(progress: RunProgress, { atMs, body }: RunEvent): RunProgress {
  switch (body.type) {
    case "state":
      return { ...progress, state: body.state, waitingFor: body.waitingFor, waitsOn: undefined };
    case "phase":
      return { ...progress, phase: body.phase };
    case "metrics": {
      if (body.late === true) return { ...progress, metrics: { ...body.metrics, ...progress.metrics } };
      const mark = { step: body.step, atMs };
      return {
        ...progress,
        step: Math.max(progress.step, body.step),
        metrics: { ...progress.metrics, ...body.metrics },
        firstStep: progress.firstStep ?? mark,
        lastStep: mark,
      };
    }
    case "checkpoint":
      return { ...progress, checkpoints: [...progress.checkpoints, body.id] };
    case "attempt":
      // A new attempt goes on from a checkpoint: the pace so far says nothing of the pace to come.
      return { ...progress, firstStep: undefined, lastStep: undefined };
    case "rollouts":
    case "log":
      return progress;
  }
}

/** Time for the steps that are left, at the pace so far. */
export function etaMs({ firstStep, lastStep, steps }: RunProgress): number | undefined {
  if (!firstStep || !lastStep || lastStep.step <= firstStep.step) return undefined;
  const perStep = (lastStep.atMs - firstStep.atMs) / (lastStep.step - firstStep.step);
  return perStep * Math.max(0, steps - lastStep.step);
}

/** The figures worth a line: the distance to a teacher, the mean reward or the loss, and how fast it goes. */
export function figures({ metrics }: RunProgress): string[] {
  const reward = metrics["reward/mean"];
  const { loss, reverse_kl: divergence } = metrics;
  const tokensPerS = metrics.tokens_per_s;
  const held = metrics["eval/reward/mean"];
  return [
    ...(divergence === undefined ? [] : [`reverse KL ${divergence.toFixed(3)}`]),
    ...(reward === undefined ? [] : [`reward ${reward.toFixed(2)}`]),
    ...(held === undefined ? [] : [`held-out ${held.toFixed(2)}`]),
    ...(reward === undefined && divergence === undefined && loss !== undefined
      ? [`loss ${loss.toFixed(3)}`]
      : []),
    ...(tokensPerS === undefined ? [] : [`${Math.round(tokensPerS).toLocaleString("en-US")} tok/s`]),
  ];
}
