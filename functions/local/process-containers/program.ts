import { fileURLToPath } from "node:url";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { ContainerKind, ForeignEngine } from "../../ports/containers.ts";

/** What containers of a home run. */
export interface Programs {
  /** The program of each kind, run by this Node. Converting weights is a matter of other makers' engines. */
  programs: Record<Exclude<ContainerKind, "convert">, URL>;
  /** What runs the engines of other makers: a command, and variables for it. Default: they cannot be run. */
  agent?: { command: readonly string[]; environment: Record<string, string> };
  /** Variables for every container besides its own; nothing is inherited. Default: none. */
  environment?: Record<string, string>;
}

/** The command of a container, and the variables that are not its own. */
export function programOf(
  { programs, agent, environment = {} }: Programs,
  { kind, engine }: { kind: ContainerKind; engine?: ForeignEngine | undefined },
): { command: readonly string[]; environment: Record<string, string> } {
  if (engine === undefined && kind !== "convert")
    return { command: [process.execPath, fileURLToPath(programs[kind])], environment };
  if (engine === undefined || agent === undefined)
    throw new SpotterError("engine_missing", `Nothing here runs ${engine ?? "conversions"}.`);
  return { command: agent.command, environment: { ...environment, ...agent.environment } };
}
