import { PROTECTED_ENV_VARS } from "./schema/common.ts";

export type Environment = Readonly<Record<string, string>>;

/** A process that a configuration starts. Prefill and decode are the two roles of disaggregated inference. */
export type Process = "trainer" | "orchestrator" | "inference" | "prefill" | "decode" | "sft";

interface WithEnvVars {
  env_vars?: Environment;
  deployment?: { prefill_env_vars?: Environment; decode_env_vars?: Environment };
}

/** A resolved tree of `rl`, or of an entrypoint that is one process. */
export interface Configured extends WithEnvVars {
  trainer?: WithEnvVars;
  orchestrator?: WithEnvVars;
  inference?: WithEnvVars | null;
}

export interface EnvironmentLayers {
  /** What the process would inherit. */
  inherited?: Environment;
  /** What the launcher sets unless the configuration says otherwise. */
  launcher?: Environment;
  /** What the launcher sets last, whatever the configuration says: `CUDA_VISIBLE_DEVICES`, `WANDB_SHARED_*`. */
  last?: Environment;
}

/**
 * The environment of a process, from below: inherited, the launcher's own, `env_vars` of all, of the component, of
 * its role, and what the launcher sets last.
 *
 * @example
 * environmentOf(config, "trainer", { inherited: process.env, launcher: { OMP_NUM_THREADS: "1" } });
 */
export function environmentOf(
  config: Configured,
  process: Process,
  { inherited = {}, launcher = {}, last = {} }: EnvironmentLayers = {},
): Record<string, string> {
  return { ...inherited, ...launcher, ...configuredFor(config, process), ...last };
}

/** What the configuration says for a process; for the variables of the launcher alone it never says anything. */
function configuredFor(config: Configured, process: Process): Record<string, string> {
  const isRole = process === "prefill" || process === "decode";
  const component = isRole ? "inference" : process;
  // One process reads its own tree, whose top level is the component.
  const inner = component === "sft" ? undefined : config[component];
  const { env_vars, deployment } = inner ?? config;
  const said = {
    ...config.env_vars,
    ...env_vars,
    ...(isRole ? deployment?.[`${process}_env_vars`] : {}),
  };
  for (const name of PROTECTED_ENV_VARS) delete said[name];
  return said;
}
