import { SpotterError } from "../schema/errors.ts";
import type { UserCodeRecord } from "../schema/user-code.ts";
import type { UserCodeBundle } from "./bundle.ts";

/**
 * The last word on whether a file has rewards, after it was loaded in an isolate.
 *
 * @throws SpotterError `reward_missing` naming the file and what it exports instead.
 */
export function requireRewards(
  record: Pick<UserCodeRecord, "exports">,
  bundle: Pick<UserCodeBundle, "name" | "exportNames">,
): void {
  if (record.exports.some((each) => each.kind === "reward")) return;
  const kinds = new Map(record.exports.map((each) => [each.name, each.kind]));
  const names = bundle.exportNames.map((name) => (kinds.has(name) ? `${name} (${kinds.get(name)})` : name));
  throw new SpotterError(
    "reward_missing",
    `${bundle.name} exports no reward; it exports ${names.join(", ")}.`,
    {
      where: bundle.name,
      hint: `Wrap the function: export const ${names[0] ?? "good"} = reward(({ response }) => ...);`,
    },
  );
}
