import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { ParameterSet } from "../models/parameter-set.ts";
import { loadInto, readJson } from "../weights/load.ts";
import { writeSafetensors } from "../weights/safetensors.ts";
import type { AdamW } from "./adamw.ts";

const STATE = "trainer.json";
const FIRST = "adam-first.safetensors";
const SECOND = "adam-second.safetensors";
const REFERENCE = "reference.safetensors";

const stateSchema = z.object({ version: z.literal(1), step: z.int().check(z.nonnegative()) });

/** What a continued training needs besides the weights. */
export interface TrainerState {
  optimizer: AdamW;
  reference: ParameterSet | undefined;
}

export async function saveTrainerState(dir: string, { optimizer, reference }: TrainerState): Promise<void> {
  await mkdir(dir, { recursive: true });
  await writeSafetensors(join(dir, FIRST), optimizer.first.diskTensors());
  await writeSafetensors(join(dir, SECOND), optimizer.second.diskTensors());
  if (reference !== undefined) await writeSafetensors(join(dir, REFERENCE), reference.diskTensors());
  // Last: a folder without it is no state.
  await writeFile(join(dir, STATE), `${JSON.stringify({ version: 1, step: optimizer.step })}\n`);
}

/**
 * Fills the state from a folder. A reference that is wanted but was not kept is an error, since the starting
 * weights it would stand for are gone.
 *
 * @throws SpotterError `model_not_found` or `model_corrupt` naming the file.
 */
export async function loadTrainerState(dir: string, { optimizer, reference }: TrainerState): Promise<void> {
  const file = join(dir, STATE);
  const parsed = z.safeParse(stateSchema, await readJson(file));
  if (!parsed.success) {
    throw new SpotterError("model_corrupt", `${file} is no trainer state of this version.`, { where: file });
  }
  if (reference !== undefined && !(await readdir(dir)).includes(REFERENCE)) {
    throw new SpotterError("model_corrupt", `${dir} holds no reference model.`, {
      where: join(dir, REFERENCE),
      hint: "The training was started without a reference; start a new one from its weights.",
    });
  }
  await loadInto(optimizer.first, [join(dir, FIRST)]);
  await loadInto(optimizer.second, [join(dir, SECOND)]);
  if (reference !== undefined) await loadInto(reference, [join(dir, REFERENCE)]);
  optimizer.step = parsed.data.step;
}
