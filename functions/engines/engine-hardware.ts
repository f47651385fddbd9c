import { presetOf } from "../../sdk/schema/engines/presets.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { hardware as hardwareSchema, hardwareChoices, type Hardware } from "../../sdk/schema/hardware.ts";
import type { Control } from "../control.ts";
import { pricingOf } from "../cost/pricing.ts";
import type { ContainerKind, ForeignEngine } from "../ports/containers.ts";

interface Wanted {
  kind: ContainerKind;
  engine: "onnx" | ForeignEngine;
  model: string;
  hardware?: Hardware | undefined;
  /** Instances that the engine's own settings name. */
  nodes?: number | undefined;
}

/**
 * What a container of an engine runs on here: what was asked for, else what is known of the model. One machine runs on
 * what it has, and is one.
 *
 * @throws SpotterError `invalid_input` where a GPU is needed and nobody says which, or this home has nothing of the kind.
 */
export function engineHardware(control: Control, wanted: Wanted): Hardware | undefined {
  const { engine, kind } = wanted;
  const hardware = pricingOf(control).choosesHardware ? chosen(wanted) : wanted.hardware;
  const { nodes = wanted.nodes ?? 1 } = hardware ?? {};
  if (!pricingOf(control).choosesHardware && engine !== "onnx" && nodes > 1)
    throw new SpotterError("invalid_input", `This machine is one, not ${nodes}.`, {
      where: wanted.hardware?.nodes === undefined ? "slime.actorNumNodes" : "hardware.nodes",
      hint: "Leave it out. A stack on AWS trains over several (docs/engines.md).",
    });
  for (const choice of hardware === undefined ? [undefined] : hardwareChoices(hardware))
    control.config.checkPlace?.(kind, {
      ...(engine !== "onnx" && { engine }),
      ...(choice && { hardware: choice }),
    });
  return hardware;
}

function chosen({ kind, engine, model, hardware, nodes }: Wanted): Hardware | undefined {
  if (engine === "onnx") return hardware;
  const several = nodes !== undefined && nodes > 1 && hardware?.nodes === undefined ? { nodes } : {};
  if (hardware?.gpu !== undefined) return { ...hardware, ...several };
  const preset = presetOf(model)?.[kind === "serve" ? "serve" : "train"];
  if (preset !== undefined) {
    const { gpu, count } = preset;
    const given = hardware ?? hardwareSchema.parse({});
    // Where nobody names the GPU, one of it is the default of whoever asked for spot or nodes alone.
    return { ...given, gpu, count: given.count > 1 ? given.count : count, ...several };
  }
  throw new SpotterError("invalid_input", `${engine} needs a GPU, and nothing is known here of ${model}.`, {
    where: "hardware.gpu",
    hint: 'Say which, as in hardware: { gpu: "H100", count: 8 }.',
  });
}
