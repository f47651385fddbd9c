import { SpotterError } from "../../sdk/schema/errors.ts";
import { hardwareChoices, type Hardware } from "../../sdk/schema/hardware.ts";
import { processesOf } from "../../sdk/schema/engines/slime-conversion.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import { getCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { foreign, runPlan } from "../engines/engines.ts";
import { sha256Of } from "../records/hash.ts";

/** What has to be converted before the first attempt of a run. */
export interface NeededConversion {
  /** Of the name of the weights and the command: nobody has to read weights to know whether it was done before. */
  source: string;
  /** One for each process of the command. */
  gpus: number;
}

/** Whoever compares with what a run began as needs those weights all along. */
const NEEDS_REFERENCE = ["--use-kl-loss", "--kl-coef"];
const PINNED = /^[0-9a-f]{64}$/;

/**
 * Undefined where nothing has to be converted before the first attempt of a run.
 *
 * @throws SpotterError `invalid_input` where nothing here could do it.
 */
export async function neededConversion(
  control: Control,
  runId: string,
  spec: RunSpec,
): Promise<NeededConversion | undefined> {
  const { startFrom, model } = spec;
  const plan = runPlan(spec, startFrom && (await getCheckpoint(control, startFrom.checkpoint)));
  const command = plan?.conversions.toMegatron;
  if (spec.slime?.["convertToHf"] === true) checkPlace(control, spec, 1, "convertToHf");
  if (plan === undefined || command === undefined) return undefined;
  // What goes on with a state of its own begins with that.
  if (plan.startedSteps > 0 && !NEEDS_REFERENCE.some((word) => plan.argv.includes(word))) return undefined;
  const gpus = processesOf(command);
  checkPlace(control, spec, gpus, "convertToMegatron");
  const { name, revision = "" } = model;
  // What a folder holds, or a branch leads to, may be another thing tomorrow: no other run takes this for the same.
  const weights = PINNED.test(revision) ? `${name} ${revision}` : `${name} ${revision} of run ${runId}`;
  const from = startFrom?.mode === "weights" ? `checkpoint ${startFrom.checkpoint}` : weights;
  return { source: sha256Of(JSON.stringify([from, command])), gpus };
}

/** One instance. Undefined on a machine that has what it has. */
export function conversionHardware(wanted: Hardware | undefined, gpus: number): Hardware | undefined {
  if (wanted === undefined) return undefined;
  const { nodes: _nodes, ...one } = wanted;
  return { ...one, count: gpus };
}

function checkPlace(control: Control, spec: RunSpec, gpus: number, setting: string): void {
  const hardware = conversionHardware(spec.hardware, gpus);
  try {
    for (const choice of hardware === undefined ? [] : hardwareChoices(hardware))
      control.config.checkPlace?.("convert", { ...foreign(spec.engine), hardware: choice });
  } catch (cause) {
    const { message, hint = "" } = SpotterError.from(cause);
    throw new SpotterError("invalid_input", `Nothing here can convert the weights by itself: ${message}`, {
      where: `slime.${setting}`,
      hint: `Leave ${setting} out, or give the stack such an instance. ${hint}`.trim(),
      cause,
    });
  }
}
