import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import * as z from "zod/mini";
import { SpotterError } from "../../schema/errors.ts";
import { parseWith } from "../../schema/parse.ts";
import { packageRoot } from "../../local/home.ts";

/** What a stack of some settings will be made of, as far as it is checked and told before it is made. */
export const stackPlan = z.object({
  /** `retain`: its bucket and its table refuse to be destroyed. */
  removal: z.enum(["retain", "destroy"]),
  gateway: z.enum(["fargate", "lambda"]),
  gpuClasses: z.array(
    z.object({
      name: z.string(),
      instanceTypes: z.array(z.string()),
      /** Of one instance. */
      vCpus: z.number(),
      maxInstances: z.number(),
      /** Instances without which there is nothing: all nodes of a training over several. */
      atOnce: z.number(),
      spot: z.boolean(),
    }),
  ),
  /** Images of the engines that it has for GPUs, by their names. Default: none. */
  engineImages: z.optional(z.record(z.string(), z.string())),
  maxCpuTasks: z.number(),
  /** Calls of functions at a time that are set aside for single ones. Default: none. */
  reservedCalls: z.optional(z.number()),
  /** What is paid while nothing runs. */
  idleCosts: z.array(z.object({ what: z.string(), monthlyUsd: z.number() })),
});
export type StackPlan = z.infer<typeof stackPlan>;

/** Answer of infra/preflight.ts. */
const planned = z.union([
  z.object({ plan: stackPlan }),
  z.object({ findings: z.array(z.object({ path: z.string(), message: z.string(), remedy: z.string() })) }),
]);
export type Planned = z.infer<typeof planned>;

const PROGRAM = "infra/preflight.ts";

/** The folder with the Pulumi program: this one, else that of the package; undefined where npm installed us. */
export function usualFolder(): string | undefined {
  return [process.cwd(), packageRoot()].find(hasProgram);
}

/**
 * The folder that is named, else the usual one.
 *
 * @throws SpotterError `invalid_input` where there is no program: what npm installs is the SDK and the command line.
 */
export function projectFolder(named: string | undefined): string {
  const found = named === undefined ? usualFolder() : hasProgram(resolve(named)) ? resolve(named) : undefined;
  if (found !== undefined) return found;
  const tried = named === undefined ? [process.cwd(), packageRoot()] : [resolve(named)];
  throw new SpotterError("invalid_input", `${tried.join(" and ")}: here is no Pulumi program of Spotter.`, {
    where: "--dir",
    hint: "Stacks are deployed from a clone of the repository: clone it, run `npm ci` in it, and try again there.",
  });
}

function hasProgram(folder: string): boolean {
  return ["Pulumi.yaml", PROGRAM].every((file) => existsSync(join(folder, file)));
}

/**
 * What the settings of a stack come to. The program itself says so, since it alone knows its settings.
 *
 * @param texts Settings by their names in Pulumi, such as `spotter:gateway`.
 */
export async function planOf(folder: string, texts: Readonly<Record<string, string>>): Promise<Planned> {
  const program = join(folder, PROGRAM);
  // Settings of others are none of its business, and may be secret.
  const own = Object.entries(texts).filter(([name]) => name.startsWith("spotter:"));
  try {
    const running = promisify(execFile)(process.execPath, [program], { cwd: folder, maxBuffer: 2 ** 24 });
    // Not among its arguments: they have a limit, and everybody on this machine can read them.
    running.child.stdin?.on("error", () => undefined).end(JSON.stringify(Object.fromEntries(own)));
    const { stdout } = await running;
    return parseWith(planned, JSON.parse(stdout), `The answer of ${PROGRAM}`, { code: "internal" });
  } catch (cause) {
    if (SpotterError.is(cause)) throw cause;
    const said = (cause as { stderr?: string }).stderr?.trim() || String(cause);
    throw new SpotterError("internal", `${program} failed: ${said.slice(-500)}`, {
      where: program,
      hint: "Is everything installed? Run `npm ci` in the clone.",
      cause,
    });
  }
}

export function totalUsd({ idleCosts }: StackPlan): number {
  return Math.round(idleCosts.reduce((sum, { monthlyUsd }) => sum + monthlyUsd, 0) * 100) / 100;
}
