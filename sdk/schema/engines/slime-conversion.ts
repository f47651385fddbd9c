import type { NativePlan } from "../native-plan.ts";
import type { PlannedSpec } from "./slime-neutral.ts";

const TOOLS = "{{spotter.engineDir}}/tools";
/** Up to this size one GPU holds the weights while they are converted. */
const ONE_GPU_BILLIONS = 10;

/**
 * Conversions of a run's weights by slime's own programs. To Megatron's format: before the training, where the run asks
 * for it. To Hugging Face's: for each checkpoint that has no such weights, because they were left out
 * (`convertToHf`) or because the training ended before it had written them.
 *
 * @param architecture - The model's shape in Megatron's words.
 * @param billions - Its parameters, where they are known.
 */
export function slimeConversions(
  { slime = {}, gpus }: Pick<PlannedSpec, "slime" | "gpus">,
  architecture: readonly string[],
  billions: number | undefined,
): NativePlan["conversions"] {
  const python = "{{spotter.python}}";
  const processes =
    billions === undefined || billions > ONE_GPU_BILLIONS ? Math.min(gpus, layersOf(architecture)) : 1;
  const toMegatron = [
    python,
    ...(processes > 1 ? ["-m", "torch.distributed.run", "--nproc-per-node", String(processes)] : []),
    `${TOOLS}/convert_hf_to_torch_dist.py`,
    ...architecture,
    ...["--hf-checkpoint", "{{spotter.weightsDir}}", "--save", "{{spotter.convertedDir}}"],
  ];
  const toHf = [
    python,
    `${TOOLS}/convert_torch_dist_to_hf.py`,
    ...["--input-dir", "{{spotter.iterationDir}}", "--output-dir", "{{spotter.hfDir}}"],
    ...["--origin-hf-dir", "{{spotter.modelDir}}"],
  ];
  return { ...(slime.convertToMegatron === true ? { toMegatron } : {}), toHf };
}

/** Processes of a conversion, each of which has a GPU. */
export function processesOf(command: readonly string[]): number {
  const at = command.indexOf("--nproc-per-node");
  return at === -1 ? 1 : Number(command[at + 1]);
}

/** slime gives each process of a conversion some layers: there cannot be more processes than layers. */
function layersOf(architecture: readonly string[]): number {
  const at = architecture.indexOf("--num-layers");
  return Math.max(1, Number(architecture[at + 1] ?? 1) || 1);
}
