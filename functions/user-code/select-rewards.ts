import { SpotterError } from "../../sdk/schema/errors.ts";
import { nearestName } from "../../sdk/schema/parse.ts";
import type { EnvironmentMember, UserCodeExport } from "../../sdk/schema/user-code.ts";
import { findEnvironment } from "./environments.ts";

/** A reward that judges; one of an environment is called by another name than scores are kept under. */
export type SelectedReward = (UserCodeExport | EnvironmentMember) & { call?: string };

/** @throws SpotterError `environment_missing`. */
export function environmentRewards(
  exports: readonly UserCodeExport[],
  name: string,
  file: string,
): SelectedReward[] {
  const { members = [] } = findEnvironment(exports, name, file);
  return members.flatMap((member) =>
    member.kind === "reward" ? [{ ...member, call: `${name}/rewards/${member.name}` }] : [],
  );
}

/**
 * The exported rewards that judge, in the order of the names given; without names all of them.
 *
 * @throws SpotterError `reward_missing` if there is none, or naming every name that is not one;
 * `user_code_invalid` for a name that every JavaScript object has.
 */
export function selectRewards(
  { exports, others = [] }: { exports: readonly UserCodeExport[]; others?: readonly string[] | undefined },
  names: readonly string[] | undefined,
  file: string,
): UserCodeExport[] {
  const rewards = exports.filter((each) => each.kind === "reward");
  if (rewards.length === 0) {
    const all = [...others, ...exports.map((each) => `${each.name} (${each.kind})`)].join(", ");
    throw new SpotterError("reward_missing", `${file} exports no reward${all && `; it exports ${all}`}.`, {
      where: file,
      hint: `Wrap the function: export const ${others[0] ?? "good"} = reward(({ response }) => ...);`,
    });
  }
  refuseInherited(rewards, file);
  if (!names) return rewards;
  const known = rewards.map((each) => each.name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0 || names.length === 0) {
    const list = unknown.map((name) => {
      const near = nearestName(name, known);
      return near ? `"${name}" (did you mean "${near}"?)` : `"${name}"`;
    });
    const what = names.length === 0 ? "the list of names is empty" : `no reward ${list.join(", ")}`;
    throw new SpotterError("reward_missing", `${file}: ${what}; there is ${known.join(", ")}.`, {
      where: "rewards.names",
      hint: "Correct the names, or leave them out to use every reward.",
    });
  }
  return rewards.filter((each) => names.includes(each.name));
}

/** Scores are kept and read by name, in records, tables and people's own code: `scores.toString` is no score. */
function refuseInherited(rewards: readonly UserCodeExport[], file: string): void {
  const wrong = rewards.map(({ name }) => name).filter((name) => name in Object.prototype);
  if (wrong.length === 0) return;
  const list = wrong.map((name) => `"${name}"`).join(", ");
  throw new SpotterError("user_code_invalid", `${file}: a reward cannot be called ${list}.`, {
    where: file,
    hint: "Every JavaScript object has something of that name already; rename the export.",
  });
}
