import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { EnvironmentParams } from "../../../environment-params.ts";
import type { BundledEnvironment } from "../../../environments/arg-kinds.ts";
import { argFaults } from "../../../environments/args.ts";
import { builtInEnvironment, BUILT_IN_ENVIRONMENTS } from "../../../environments/index.ts";
import { nearestName } from "../../../schema/nearest-name.ts";
import type { EnvironmentConfig, EvalEnvironmentConfig } from "../rules/configs.ts";
import type { Notes } from "./plan.ts";

interface Module {
  file: URL | string;
  export?: string;
  /** Of a bundled environment. */
  name?: BundledEnvironment;
}

/** What of an environment's entry says which one it is, and what it is given. */
interface Chosen {
  id: string;
  args: Record<string, unknown>;
  /** Where these stand, below the entry. */
  idAt: string;
  argsAt: string;
}

/** An entry of the list of environments, at `path`, as a training takes it. `cwd`: where paths of modules begin. */
export function environmentOf(
  env: EnvironmentConfig | EvalEnvironmentConfig,
  path: string,
  notes: Notes,
  cwd: string,
  isHeld = false,
): EnvironmentParams {
  const { max_turns: maxTurns, harness, ratio } = env;
  if (harness.id !== "default" && harness.id !== "null")
    notes.refuse(
      `${path}.harness.id`,
      `The harness ${harness.id} needs a machine of its own.`,
      "Use default: the engine talks to the model itself.",
    );
  const { id, args, idAt, argsAt } = chosenBy(env);
  const found = moduleOf(id, cwd);
  if (found === undefined) refuseUnknown(notes, `${path}.${idAt}`, env);
  else if (typeof found.file === "string" && !statSync(found.file, { throwIfNoEntry: false })?.isFile())
    notes.refuse(
      `${path}.${idAt}`,
      `There is no file ${found.file}.`,
      "Paths are relative to the folder you are in.",
    );
  if (found?.name !== undefined) refuseArgs(notes, `${path}.${argsAt}`, found.name, args);
  // Tasks of the same environment are told apart by what they are for.
  const name = env.name ?? (id || "environment");
  return {
    file: found?.file ?? "",
    ...(found?.export === undefined ? {} : { export: found.export }),
    name: isHeld ? `eval ${name}` : name,
    args,
    ...(isHeld ? {} : { ratio }),
    ...(maxTurns === null ? {} : { maxTurns }),
  };
}

/**
 * How long the rollouts of a step may take, in milliseconds; undefined where nobody says. All are played side by side,
 * so that there is one time for all.
 */
export function rolloutTimeoutMs(
  environments: readonly { path: string; env: EnvironmentConfig | EvalEnvironmentConfig }[],
  notes: Notes,
): number | undefined {
  const seconds = environments.map(({ env }) => env.timeout.rollout);
  const other = environments[seconds.findIndex((each) => each !== seconds[0])];
  if (other !== undefined)
    notes.refuse(
      `${other.path}.timeout.rollout`,
      "The embedded engine plays all environments side by side, within one time.",
      "Give all environments the same timeout.rollout.",
    );
  return seconds[0] == null ? undefined : Math.max(1, Math.round(seconds[0] * 1_000));
}

/** A taskset has its settings beside its id, an environment in `args`. */
function chosenBy({ id, args, taskset }: EnvironmentConfig | EvalEnvironmentConfig): Chosen {
  const { id: tasksetId, ...settings } = taskset;
  if (tasksetId === "") return { id: id ?? "", args, idAt: "id", argsAt: "args" };
  return { id: tasksetId, args: settings, idAt: "taskset.id", argsAt: "taskset" };
}

/**
 * A bundled environment, or a module by its path, which begins with a slash or dots, or ends as modules do. Of a
 * module with several environments, `./games.ts#chess` names one.
 */
function moduleOf(id: string, cwd: string): Module | undefined {
  const [, file = "", exported] = /^(.*?)(?:#([\w$]+))?$/s.exec(id) ?? [];
  const isPath = isAbsolute(file) || /^\.\.?\//.test(file) || /\.[cm]?[jt]s$/.test(file);
  if (!isPath) return builtInEnvironment(id);
  return { file: resolve(cwd, file), ...(exported !== undefined && { export: exported }) };
}

function refuseUnknown(
  notes: Notes,
  path: string,
  { id, taskset }: EnvironmentConfig | EvalEnvironmentConfig,
): void {
  if (taskset.id === "replay")
    return notes.refuse(
      path,
      "The taskset replay goes on with recorded rollouts, which the embedded engine does not do.",
      "Train in the environment that was recorded, or run prime-rl on a GPU host with the files of --dry-run.",
    );
  const given = taskset.id || id;
  const near = nearestName(given ?? "", BUILT_IN_ENVIRONMENTS);
  notes.refuse(
    path,
    given === null
      ? "There is no environment id here."
      : `There is no ${taskset.id ? "taskset" : "environment"} "${given}" here.`,
    `${near === undefined ? "" : `Did you mean ${near}? `}Bundled are ${BUILT_IN_ENVIRONMENTS.join(", ")}; a module of your own is named by its path, for example ./game.ts.`,
  );
}

function refuseArgs(
  notes: Notes,
  path: string,
  name: BundledEnvironment,
  args: Record<string, unknown>,
): void {
  for (const { key, message, known } of argFaults(name, args)) {
    const near = nearestName(key, known);
    const isUnknown = !known.includes(key);
    notes.refuse(
      `${path}.${key}`,
      isUnknown ? `${name} takes no "${key}".` : `${message}.`,
      isUnknown
        ? `${near === undefined ? "" : `Did you mean ${near}? `}It takes ${known.join(", ")}.`
        : "Correct it, or leave it out.",
    );
  }
}
