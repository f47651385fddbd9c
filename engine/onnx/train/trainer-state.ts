import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { ParameterSet } from "../models/parameter-set.ts";
import { loadInto, readJson } from "../weights/load.ts";
import { writeSafetensors } from "../weights/safetensors.ts";
import type { Critic } from "./critic.ts";
import type { Optimizer } from "./optimizers/optimizer.ts";

const STATE = "trainer.json";
const REFERENCE = "reference.safetensors";
const CRITIC = "critic.safetensors";

const stateSchema = z.object({
  version: z.literal(1),
  step: z.int().check(z.nonnegative()),
  /** What kept the moments. */
  optimizer: z._default(z.string(), "adamw"),
  criticStep: z.optional(z.int().check(z.nonnegative())),
});

/** What a continued training needs besides the weights. */
export interface TrainerState {
  optimizer: Optimizer;
  reference: ParameterSet | undefined;
  critic?: Pick<Critic, "parameters" | "optimizer"> | undefined;
}

export async function saveTrainerState(
  dir: string,
  { optimizer, reference, critic }: TrainerState,
): Promise<void> {
  await mkdir(dir, { recursive: true });
  for (const [file, tensors] of stateFiles(optimizer, critic)) {
    await writeSafetensors(join(dir, file), tensors.diskTensors());
  }
  if (reference !== undefined) await writeSafetensors(join(dir, REFERENCE), reference.diskTensors());
  const state = {
    version: 1,
    step: optimizer.step,
    optimizer: optimizer.type,
    ...(critic && { criticStep: critic.optimizer.step }),
  };
  // Last: a folder without it is no state.
  await writeFile(join(dir, STATE), `${JSON.stringify(state)}\n`);
}

/**
 * Fills the state from a folder. A reference that is wanted but was not kept is an error, since the starting
 * weights it would stand for are gone.
 *
 * @throws SpotterError `model_not_found` or `model_corrupt` naming the file, `checkpoint_mismatch` where another
 *   optimizer wrote it.
 */
export async function loadTrainerState(
  dir: string,
  { optimizer, reference, critic }: TrainerState,
): Promise<void> {
  const file = join(dir, STATE);
  const parsed = z.safeParse(stateSchema, await readJson(file));
  if (!parsed.success) {
    throw new SpotterError("model_corrupt", `${file} is no trainer state of this version.`, { where: file });
  }
  if (parsed.data.optimizer !== optimizer.type) {
    const was = parsed.data.optimizer;
    throw new SpotterError(
      "checkpoint_mismatch",
      `The checkpoint was trained with ${was}, not ${optimizer.type}.`,
      {
        where: "trainer.optimizer",
        hint: `Set the optimizer to ${was}, or take the weights alone: startFrom with mode "weights".`,
      },
    );
  }
  if (reference !== undefined && !(await readdir(dir)).includes(REFERENCE)) {
    throw new SpotterError("model_corrupt", `${dir} holds no reference model.`, {
      where: join(dir, REFERENCE),
      hint: "The training was started without a reference; start a new one from its weights.",
    });
  }
  if (critic !== undefined && parsed.data.criticStep === undefined) {
    throw new SpotterError("checkpoint_mismatch", "The checkpoint was trained without a critic.", {
      where: join(dir, CRITIC),
      hint: 'Take the weights alone: startFrom with mode "weights".',
    });
  }
  for (const [file, tensors] of stateFiles(optimizer, critic)) await loadInto(tensors, [join(dir, file)]);
  if (reference !== undefined) await loadInto(reference, [join(dir, REFERENCE)]);
  optimizer.step = parsed.data.step;
  if (critic !== undefined) critic.optimizer.step = parsed.data.criticStep ?? 0;
}

/** What is kept of optimizer and critic, by file. */
function stateFiles(optimizer: Optimizer, critic: TrainerState["critic"]): [string, ParameterSet][] {
  const moments = (of: Optimizer, prefix: string): [string, ParameterSet][] =>
    Object.entries(of.moments).map(([name, moment]) => [`${prefix}${name}.safetensors`, moment]);
  if (critic === undefined) return moments(optimizer, "");
  return [...moments(optimizer, ""), [CRITIC, critic.parameters], ...moments(critic.optimizer, "critic-")];
}
