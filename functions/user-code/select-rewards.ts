import { SpotterError } from "../../sdk/schema/errors.ts";
import { nearestName } from "../../sdk/schema/parse.ts";
import type { UserCodeExport } from "../../sdk/schema/user-code.ts";

/**
 * The exported rewards that judge, in the order of the names given; without names all of them.
 *
 * @throws SpotterError `reward_missing` if there is none, or naming every name that is not one.
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
