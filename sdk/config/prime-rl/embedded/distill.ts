import type { TeacherParams } from "../../../teacher.ts";
import type { RlConfig } from "../rules/configs.ts";
import type { Notes } from "./plan.ts";

const AT = "orchestrator.algo.teacher";

/**
 * The teacher of `algo.type = "opd"`: its server scores what the policy wrote. The variable of its key is the name of a
 * stored secret here; one that nobody named is none.
 */
export function teacherOf(
  { orchestrator: { algo } }: Pick<RlConfig, "orchestrator">,
  provenance: Readonly<Record<string, string>>,
  notes: Notes,
): TeacherParams | undefined {
  if (algo.type !== "opd") return undefined;
  const { name: model, base_url: urls, api_key_var: secret } = algo.teacher;
  const [baseUrl = ""] = urls;
  if (urls.length !== 1)
    notes.refuse(
      `${AT}.base_url`,
      "The teacher is asked at one address.",
      "Give one; it may be a balancer's.",
    );
  const isNamed = /^--|:\d+$/.test(provenance[`${AT}.api_key_var`] ?? "");
  return { url: { baseUrl, model, ...(isNamed && { secret }) }, agentic: true };
}
