import { fileURLToPath } from "node:url";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { ContainerKind, ForeignEngine } from "../../ports/containers.ts";

/** What containers of a home run. */
export interface Programs {
  /** The program of each kind, run by this Node. */
  programs: Record<ContainerKind, URL>;
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
  if (engine === undefined)
    return { command: [process.execPath, fileURLToPath(programs[kind])], environment };
  if (agent === undefined) throw new SpotterError("engine_missing", `Nothing here runs ${engine}.`);
  return { command: agent.command, environment: { ...environment, ...agent.environment } };
}
