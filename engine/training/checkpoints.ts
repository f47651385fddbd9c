import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { nonNegativeInt } from "../../sdk/schema/common.ts";
import type { JobClient } from "../agent.ts";
import type { EngineApi } from "../onnx/engine-api.ts";

/** What a run must remember besides weights and optimizer. Random numbers and rows follow from the step. */
export const trainerState = z.object({
  v: z.literal(1),
  /** Steps of this run that are finished. */
  step: nonNegativeInt,
  /** Steps finished over all runs that were continued one from another. */
  totalSteps: nonNegativeInt,
  seed: nonNegativeInt,
  verdicts: z.object({ judged: nonNegativeInt, missing: nonNegativeInt }),
});
export type TrainerState = z.infer<typeof trainerState>;

const STATE_FILE = "state.json";
export interface SaveParams {
  engine: EngineApi;
  client: Pick<JobClient, "uploadCheckpoint">;
  workDir: string;
  kind: "full" | "lora";
  state: TrainerState;
  metrics: Record<string, number>;
  /** Adds to `trainer/` what else the run must remember. */
  also?: (trainerDir: string) => Promise<void>;
}

/** Writes `model/` and `trainer/` and uploads them as one checkpoint of step `state.step`. */
export async function saveCheckpoint(params: SaveParams): Promise<void> {
  const { engine, client, kind, state, metrics } = params;
  const dir = join(params.workDir, "checkpoints", String(state.step));
  await rm(dir, { recursive: true, force: true });
  await mkdir(join(dir, "trainer"), { recursive: true });
  await engine.saveModel(join(dir, "model"));
  await engine.saveTrainerState(join(dir, "trainer"));
  await params.also?.(join(dir, "trainer"));
  await writeFile(join(dir, "trainer", STATE_FILE), `${JSON.stringify(state)}\n`);
  await client.uploadCheckpoint({ step: state.step, kind, dir, metrics });
  await rm(dir, { recursive: true });
}

/** @throws SpotterError `checkpoint_mismatch` when the checkpoint was not written by a trainer. */
export async function readTrainerState(checkpointDir: string, id: string): Promise<TrainerState> {
  const file = join(checkpointDir, "trainer", STATE_FILE);
  const text = await readFile(file, "utf8").catch(() => undefined);
  const parsed = text === undefined ? undefined : z.safeParse(trainerState, safeJson(text));
  if (parsed?.success === true) return parsed.data;
  throw new SpotterError("checkpoint_mismatch", `Checkpoint ${id} has no readable trainer state.`, {
    where: `trainer/${STATE_FILE}`,
    hint: 'Start from it with mode "weights".',
  });
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
