import { SpotterError } from "./schema/errors.ts";
import type { TrainConfigParams } from "./train-config.ts";

/** A distillation has a teacher, and nothing else has one. */
export function refuseTeacher({ recipe, teacher }: TrainConfigParams): void {
  if ((recipe.kind === "distill") === (teacher !== undefined)) return;
  const [what, hint] =
    teacher === undefined
      ? [
          "missing; a distill recipe needs one",
          'Pass teacher: "Qwen/Qwen3-4B", or a checkpoint or an endpoint.',
        ]
      : [`is there, and nobody asks it in a ${recipe.kind} recipe`, "Use recipes.distill, or remove it."];
  throw new SpotterError("invalid_input", `TrainConfig is not valid:\n  teacher: ${what}`, {
    where: "teacher",
    hint,
  });
}
