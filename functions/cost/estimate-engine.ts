import type { MemoryEstimate } from "../../sdk/schema/cost.ts";
import {
  rowTokens,
  secondsPerStep,
  servingMemory,
  totalMiB,
  trainingMemory,
  type MemoryParts,
} from "../../sdk/schema/engine-estimate.ts";
import type { DatasetRecord } from "../../sdk/schema/dataset.ts";
import type { Hardware } from "../../sdk/schema/hardware.ts";
import type { ModelRef } from "../../sdk/schema/model.ts";
import { NANO_SHAPE, parametersOf, shapeOf, type ModelShape } from "../../sdk/schema/model-shape.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { datasetKey } from "../datasets/datasets.ts";
import { ggufConfig, type ReadStart } from "../models/gguf-config.ts";
import { modelBlob, modelFiles } from "../models/models.ts";
import { pricingOf } from "./pricing.ts";

/** What a run's own settings and its model tell of it. */
export interface EngineEstimate {
  shape: ModelShape;
  /** Of a row: its prompt, and its completion where that is learnt. */
  promptTokens: number;
  secondsPerStep: number;
  memory: MemoryEstimate;
  /** Of it, a teacher's: no setting of the training makes that less. */
  teacherMiB: number;
  /** What the time rests on. */
  text: string;
}

const USUAL_ROW_TOKENS = 128;
const GGUF = /\.gguf$/i;

/**
 * Undefined where nothing is known of the model beforehand, or another engine trains.
 *
 * @param teacher What is served for the run and no longer.
 */
export async function estimateEngine(
  control: Control,
  spec: RunSpec,
  teacher?: ModelRef,
): Promise<EngineEstimate | undefined> {
  if (spec.engine !== "onnx") return undefined;
  const shape = await shapeOfModel(control, spec.model);
  if (shape === undefined) return undefined;
  const stored = (await control.store.get<DatasetRecord>(datasetKey(spec.dataset.sha256)))?.value;
  const promptTokens = stored ? rowTokens(stored) : USUAL_ROW_TOKENS;
  const { threads } = control.config;
  const beside = await teacherBeside(control, teacher);
  const parts = { ...trainingMemory(spec, shape, promptTokens), ...beside };
  return {
    shape,
    promptTokens,
    secondsPerStep: secondsPerStep(spec, shape, promptTokens, threads),
    memory: memoryOf(control, parts, spec.hardware),
    teacherMiB: beside.teacher ?? 0,
    text: `By the size of ${spec.model.name}, ${sizeText(parametersOf(shape))} weights, on ${threads} threads; no run of it has been measured here.`,
  };
}

/** A teacher that is served for the run shares its memory where all do; elsewhere it has a container of its own. */
async function teacherBeside(
  control: Control,
  teacher: ModelRef | undefined,
): Promise<Pick<MemoryParts, "teacher">> {
  const isBeside = teacher !== undefined && !pricingOf(control).choosesHardware;
  const shape = isBeside ? await shapeOfModel(control, teacher) : undefined;
  return shape ? { teacher: totalMiB(servingMemory(shape)) } : {};
}

/** What a replica needs; undefined as for {@link estimateEngine}. */
export async function estimateReplica(
  control: Control,
  launch: { model: ModelRef; hardware?: Hardware | undefined; engine: string },
): Promise<MemoryEstimate | undefined> {
  const shape = launch.engine === "onnx" ? await shapeOfModel(control, launch.model) : undefined;
  return shape && memoryOf(control, servingMemory(shape), launch.hardware);
}

function memoryOf(control: Control, parts: MemoryParts, hardware: Hardware | undefined): MemoryEstimate {
  const availableMiB = pricingOf(control).memoryMiB?.(hardware);
  return {
    neededMiB: totalMiB(parts),
    ...(availableMiB !== undefined && { availableMiB }),
    parts: rounded(parts),
  };
}

async function shapeOfModel(control: Control, { name, revision }: ModelRef): Promise<ModelShape | undefined> {
  if (name === "spotter/nano") return NANO_SHAPE;
  if (revision === undefined) return shapeOf(await control.modelConfig?.(name));
  const gguf = (await modelFiles(control, revision)).find((path) => GGUF.test(path));
  if (gguf !== undefined) return shapeOf(await ggufConfig(startOf(control, modelBlob(revision, gguf))));
  const config = await control.blobs.get(modelBlob(revision, "config.json"));
  if (config === undefined) return undefined;
  return shapeOf(await new Response(config).json().catch(() => undefined));
}

function startOf({ blobs }: Control, key: string): ReadStart {
  return async (bytes) => {
    const start = await blobs.get(key, { range: [0, bytes] });
    return start && new Uint8Array(await new Response(start).arrayBuffer());
  };
}

function rounded(parts: MemoryParts): MemoryParts {
  return Object.fromEntries(
    Object.entries(parts).map(([name, value]) => [name, Math.round(Number(value))]),
  ) as unknown as MemoryParts;
}

function sizeText(parameters: number): string {
  return parameters >= 1e9
    ? `${(parameters / 1e9).toPrecision(2)}B`
    : `${(parameters / 1e6).toPrecision(3)}M`;
}
