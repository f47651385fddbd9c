import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RunEventBody } from "../../sdk/schema/event.ts";
import { putAlias } from "../aliases/aliases.ts";
import type { Control } from "../control.ts";
import { getRunSpec } from "./records.ts";

/**
 * Lets the alias that a run asks for lead to its last checkpoint. Resolves to what is to be said about it; a name that
 * cannot be had fails nothing, for the training is done.
 */
export async function nameResult(control: Control, runId: string): Promise<RunEventBody[]> {
  const { alias } = await getRunSpec(control, runId);
  if (alias === undefined) return [];
  try {
    await putAlias(control, alias, { targets: [{ model: runId, weight: 1 }] });
    return [{ type: "log", level: "info", message: `Its last checkpoint answers as ${alias}.` }];
  } catch (error) {
    const { message } = SpotterError.from(error);
    return [
      { type: "log", level: "warn", message: `Its last checkpoint cannot be called ${alias}: ${message}` },
    ];
  }
}
