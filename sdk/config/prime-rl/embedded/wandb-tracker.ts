import type { TrackerParams } from "../../../trackers.ts";
import type { RlConfig, SftConfig } from "../rules/configs.ts";

/**
 * What `[wandb]` asks for, as a tracker: nothing without the name of a stored secret that was granted, and nothing
 * where its records are to stay on this machine.
 */
export function wandbTrackers(
  { wandb }: Pick<RlConfig | SftConfig, "wandb">,
  secret: string | undefined,
): TrackerParams[] {
  if (wandb === null || secret === undefined || wandb.offline) return [];
  const { project, entity, group } = wandb;
  return [
    {
      kind: "wandb",
      project: project ?? "prime-rl",
      secret,
      ...(entity !== null && { entity }),
      ...(group !== null && { group }),
    },
  ];
}
