import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { LoraSetup } from "../engine-api.ts";
import type { LlamaConfig } from "./llama-config.ts";
import {
  PROJECTIONS,
  PROJECTION_GROUPS,
  groupInput,
  layerName,
  modulePath,
  projectionRows,
  type ParameterSpec,
  type Projection,
  type ProjectionGroup,
} from "./llama-parameters.ts";
import { ParameterSet } from "./parameter-set.ts";

/**
 * A low-rank adapter (arXiv:2106.09685): each targeted projection gives `W x + alpha/rank B A x`. The A of
 * projections that share an input are stacked to one matrix, so that they cost one product.
 */
export class LoraAdapter {
  readonly rank: number;
  readonly alpha: number;
  readonly targets: readonly Projection[];
  readonly parameters: ParameterSet;

  /** All zeros: the model as it is. */
  constructor(config: LlamaConfig, setup: LoraSetup) {
    const { rank, alpha } = setup;
    if (!Number.isInteger(rank) || rank < 1 || !(alpha > 0)) {
      throw new SpotterError(
        "invalid_input",
        `An adapter of rank ${rank} and alpha ${alpha} cannot be made.`,
        {
          hint: "rank is a whole number from 1, alpha is above 0.",
        },
      );
    }
    this.rank = rank;
    this.alpha = alpha;
    this.targets = knownTargets(setup.targets);
    this.parameters = new ParameterSet(loraParameters(config, rank, this.targets));
  }

  /** Factor on `B A x`. */
  get scale(): number {
    return this.alpha / this.rank;
  }

  /** The targeted projections of a group, in the order their A are stacked. */
  targetsOf(group: ProjectionGroup): Projection[] {
    return PROJECTION_GROUPS[group].filter((projection) => this.targets.includes(projection));
  }
}

/** Name in memory of the stacked A of a group. */
export function loraAName(layer: number, group: ProjectionGroup): string {
  return layerName(layer, `${group}.lora_A`);
}

export function loraBName(layer: number, projection: Projection): string {
  return diskName(layer, projection, "lora_B");
}

function knownTargets(targets: readonly string[]): Projection[] {
  const unknown = targets.filter((target) => !PROJECTIONS.some((projection) => projection === target));
  if (unknown.length > 0 || targets.length === 0) {
    const what = targets.length === 0 ? "no module" : unknown.join(", ");
    throw new SpotterError("invalid_input", `An adapter cannot target ${what}.`, {
      where: "targets",
      hint: `Choose from ${PROJECTIONS.join(", ")}.`,
    });
  }
  return PROJECTIONS.filter((projection) => targets.includes(projection));
}

function loraParameters(config: LlamaConfig, rank: number, targets: readonly Projection[]): ParameterSpec[] {
  const specs: ParameterSpec[] = [];
  for (let layer = 0; layer < config.layers; layer++) {
    for (const group of Object.keys(PROJECTION_GROUPS) as ProjectionGroup[]) {
      const members = PROJECTION_GROUPS[group].filter((projection) => targets.includes(projection));
      if (members.length === 0) continue;
      specs.push({
        name: loraAName(layer, group),
        shape: [members.length * rank, groupInput(config, group)],
        parts: members.map((projection) => ({ name: diskName(layer, projection, "lora_A"), rows: rank })),
      });
      for (const projection of members) {
        const name = loraBName(layer, projection);
        const rows = projectionRows(config, projection);
        specs.push({ name, shape: [rows, rank], parts: [{ name, rows }] });
      }
    }
  }
  return specs;
}

/** PEFT's name for one matrix of an adapter. */
function diskName(layer: number, projection: Projection, matrix: "lora_A" | "lora_B"): string {
  return `base_model.model.${layerName(layer, `${modulePath(projection)}.${matrix}.weight`)}`;
}
