import { join } from "node:path";
import { asksUngranted, JUDGE_GRANT_HINT } from "../../schema/judge-grants.ts";
import { codeFinding } from "./code-facts.ts";
import type { Finding } from "./finding.ts";
import type { ProjectCode } from "./project-code.ts";
import { readText } from "./read-text.ts";

/** Rewards in Python that ask a judge with nothing to ask with; those in TypeScript are tried at the launch. */
export function judgeFindings(folder: string, rewards: ProjectCode, secrets: readonly string[]): Finding[] {
  return rewards.files
    .filter((file) => file.endsWith(".py"))
    .flatMap((file) => {
      const read = readText(join(folder, file));
      if (!("text" in read) || !asksUngranted([read.text], secrets)) return [];
      const message = "asks a model with llm_judge, and no secret is granted to ask with";
      return codeFinding("secret_missing", file, undefined, "", message, JUDGE_GRANT_HINT, "warning");
    });
}
