import { MODEL_PRESETS, presetOf } from "../../sdk/schema/engines/presets.ts";
import type { EngineFault } from "../../sdk/schema/engines/given-options.ts";
import { slimeFaults } from "../../sdk/schema/engines/slime-check.ts";
import { isApart, type PlannedSpec } from "../../sdk/schema/engines/slime-neutral.ts";
import { rateFaults, rateWarnings } from "../../sdk/schema/engines/slime-rate.ts";
import { slimePlan } from "../../sdk/schema/engines/slime-plan.ts";
import { slimeSettings } from "../../sdk/schema/engines/slime-settings.ts";
import { vllmFaults, vllmPlan, type VllmParams } from "../../sdk/schema/engines/vllm-plan.ts";
import { vllmSettings } from "../../sdk/schema/engines/vllm-settings.ts";
import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import type { LaunchEndpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Hardware } from "../../sdk/schema/hardware.ts";
import type { NativePlan } from "../../sdk/schema/native-plan.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { engineHardware } from "./engine-hardware.ts";
import type { ForeignEngine } from "../ports/containers.ts";

type Served = Pick<LaunchEndpoint, "model" | "engine" | "vllm" | "hardware">;
/** What an endpoint serves of a checkpoint; the rank of an adapter, where it is known. */
export type ServedCheckpoint = Pick<VllmParams, "loraRank"> & { kind: Checkpoint["kind"] };

/** `{ engine }` of a job that another maker's engine does; nothing for the embedded one. */
export function foreign(engine: RunSpec["engine"] | LaunchEndpoint["engine"]): { engine?: ForeignEngine } {
  return engine === "onnx" ? {} : { engine };
}

/**
 * Refuses what the engine of a run could not do, before anything is started.
 *
 * @returns The run with the hardware that it gets.
 * @throws SpotterError `engine_missing` where this home has no such engine; `invalid_input` with all that is wrong.
 */
export function checkRunEngine(control: Control, spec: RunSpec): RunSpec {
  const { engine, slime = {} } = spec;
  if (engine !== "onnx") checkOffered(control, engine);
  const nodes = engine === "onnx" ? undefined : parseWith(slimeSettings, slime, "slime").actorNumNodes;
  const hardware = engineHardware(control, { ...spec, kind: "train", model: spec.model.name, nodes });
  const placed = hardware === spec.hardware ? spec : { ...spec, hardware };
  if (engine !== "onnx")
    refuse(
      [
        ...slimeFaults({ ...placed, ...plannedOf(placed) }),
        ...rateFaults(spec),
        ...variableFaults(control, spec),
      ],
      "The run",
    );
  return placed;
}

function variableFaults({ config }: Control, { env }: RunSpec): EngineFault[] {
  return (config.cannotGive?.(env) ?? []).map((name) => ({
    where: `env.${name}`,
    message: "has a line break, or a character that no variable can have",
    hint: "Give a value of one line; what takes several can be encoded, or be a file of the image.",
  }));
}

/** What of a run's engine its owner may not have meant. */
export function engineWarnings(spec: RunSpec): string[] {
  if (spec.engine !== "onnx") return rateWarnings(spec);
  return spec.imageOverlay === undefined
    ? []
    : ["imageOverlay is not applied: the embedded engine runs without an image."];
}

/** The same of an endpoint: the hardware of its replicas. */
export function checkEndpointEngine(
  control: Control,
  launch: Served & { name: string },
): Hardware | undefined {
  const { engine, model } = launch;
  if (engine === "onnx" && launch.vllm !== undefined)
    throw new SpotterError("invalid_input", "The settings of vLLM are for an endpoint of engine vllm.", {
      where: "vllm",
      hint: "Add the engine (`--engine vllm`), or leave the settings out.",
    });
  if (engine !== "onnx") checkOffered(control, engine);
  const hardware = engineHardware(control, { ...launch, kind: "serve", model: model.name });
  if (engine !== "onnx")
    refuse(vllmFaults(vllmParams(launch.name, { ...launch, hardware }, undefined)), "The endpoint");
  return hardware;
}

/** The same once its checkpoint is known. */
export function checkServedCheckpoint(launch: Served & { name: string }, checkpoint: ServedCheckpoint): void {
  if (launch.engine !== "onnx")
    refuse(vllmFaults(vllmParams(launch.name, launch, checkpoint)), "The endpoint");
}

/**
 * What the container of a run starts; undefined for the embedded engine. `start`: the checkpoint it goes on from.
 *
 * @throws SpotterError `checkpoint_mismatch` for one that this engine cannot go on from.
 */
export function runPlan(spec: RunSpec, start: Checkpoint | undefined): NativePlan | undefined {
  if (spec.engine === "onnx") return undefined;
  if (start?.kind === "lora") {
    throw new SpotterError(
      "checkpoint_mismatch",
      `Checkpoint ${start.id} is an adapter; ${spec.engine} trains all weights.`,
      {
        where: "startFrom.checkpoint",
        hint: "Start from a checkpoint of all weights, or train on the embedded engine.",
      },
    );
  }
  const continues = start !== undefined && spec.startFrom?.mode !== "weights";
  return slimePlan(plannedOf(spec), continues ? stepsIn(start) : 0);
}

/** What a replica starts; undefined for the embedded engine. */
export function endpointPlan(
  name: string,
  endpoint: Served,
  checkpoint: ServedCheckpoint | undefined,
): NativePlan | undefined {
  return endpoint.engine === "onnx" ? undefined : vllmPlan(vllmParams(name, endpoint, checkpoint));
}

function vllmParams(endpoint: string, served: Served, checkpoint: ServedCheckpoint | undefined): VllmParams {
  const { model, hardware, vllm = {} } = served;
  return {
    endpoint,
    model,
    ...(checkpoint && { checkpoint: checkpoint.kind }),
    ...(checkpoint?.loraRank !== undefined && { loraRank: checkpoint.loraRank }),
    ...(hardware && { hardware }),
    vllm: parseWith(vllmSettings, vllm, "vllm"),
  };
}

/** Steps that a checkpoint of slime has behind it, with those of runs before: its iterations count from 0. */
function stepsIn({ id, files }: Checkpoint): number {
  const iterations = files.flatMap(({ path }) => /^trainer\/iter_(\d{7})\//.exec(path)?.[1] ?? []);
  if (iterations.length > 0) return Math.max(...iterations.map(Number)) + 1;
  throw new SpotterError("checkpoint_mismatch", `Checkpoint ${id} has no optimizer state of slime.`, {
    where: "startFrom",
    hint: 'Start from its weights: { checkpoint, mode: "weights" }.',
  });
}

function plannedOf(spec: RunSpec): PlannedSpec {
  const { slime = {}, hardware } = spec;
  const settings = parseWith(slimeSettings, slime, "slime");
  const onHost =
    hardware?.count ?? (isApart({ ...spec, slime: settings }) ? undefined : settings.actorNumGpusPerNode);
  const gpus = onHost ?? gpusOf(spec.model.name, hardware);
  return { ...spec, slime: settings, gpus, nodes: settings.actorNumNodes ?? hardware?.nodes ?? 1 };
}

function gpusOf(model: string, hardware: Hardware | undefined): number {
  return hardware?.count ?? presetOf(model)?.train.count ?? 8;
}

function checkOffered(control: Control, engine: ForeignEngine): void {
  if (control.config.engines?.().includes(engine) === true) return;
  const how = control.config.engineHint?.(engine) ?? "docs/engines.md says how to give it one.";
  throw new SpotterError("engine_missing", `This home has no ${engine}.`, {
    where: "engine",
    hint: `${how} The embedded engine trains and serves without a GPU; models that ${engine} is set up for: ${MODEL_PRESETS.map(({ names }) => names[0]).join(", ")}.`,
  });
}

function refuse(faults: readonly EngineFault[], what: string): void {
  const [first] = faults;
  if (first === undefined) return;
  const lines = faults.map(
    ({ where, message, hint }) => `  ${where}: ${message}${hint === undefined ? "" : ` (${hint})`}`,
  );
  throw new SpotterError("invalid_input", `${what} cannot run like this:\n${lines.join("\n")}`, {
    where: first.where,
    ...(first.hint === undefined ? {} : { hint: first.hint }),
  });
}
