import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Catalogue, factsOf } from "./catalogue.ts";
import { codeFinding } from "./code-facts.ts";
import type { ConfigView } from "./config-view.ts";
import type { Finding, Remark } from "./finding.ts";
import type { ProjectCode } from "./project-code.ts";

/** Whether rows may call tools at all. */
export function usesTools(view: ConfigView, tools: ProjectCode): boolean {
  return (tools.items?.size ?? 0) > 0 || view.texts("rollout.mcp_url").length > 0;
}

/** What of config.yml does not fit the code beside it. */
export function codeRules(view: ConfigView, catalogue: Catalogue, tools: ProjectCode): Remark[] {
  if (!usesTools(view, tools)) return [];
  const kind = view.text("dataset_type");
  const source = view.has("rollout.mcp_url") ? "mcp_url" : tools.files.join(" and ");
  if (kind === "distill" && !view.flag("teacher.agentic"))
    return [
      {
        code: "tools_ignored",
        severity: "warning",
        path: ["teacher"],
        atKey: true,
        message: `${source} brings tools, which a distillation calls only with agentic: true`,
        hint: "Write agentic: true in the section teacher, or remove the tools.",
      },
    ];
  if (kind !== "rl" && kind !== "distill") return [];
  const remarks = view.texts("model.path").flatMap(({ path, value }): Remark[] => {
    if (factsOf(catalogue, value)?.tools !== false) return [];
    const hint = "Take an instruct model, or remove the tools.";
    return [
      {
        code: "tools_unsupported",
        path,
        message: `${value} takes no tools, and ${source} brings some`,
        hint,
      },
    ];
  });
  if (view.number("rollout.max_turns") === 1 && view.text("rollout.termination_policy") !== undefined)
    remarks.push({
      code: "tools_single_turn",
      severity: "warning",
      path: ["rollout", "max_turns"],
      message: "is 1: the model may call a tool and never sees what it returns",
      hint: "Write 2 or more.",
    });
  return remarks;
}

/** Files that a project needs, and files that nobody reads any more. */
export function fileFindings(folder: string, view: ConfigView, rewards: ProjectCode): Finding[] {
  const findings: Finding[] = [];
  if (view.text("dataset_type") === "rl" && rewards.files.length === 0) {
    const hint = "Create rewards.ts or rewards.py; `spotter init` writes one.";
    const message = "there is neither rewards.ts nor rewards.py: nothing judges what the model writes";
    findings.push(codeFinding("code_missing", "rewards.ts", undefined, "", message, hint));
  }
  if (existsSync(join(folder, "env.py")) && !existsSync(join(folder, "tools.py")))
    findings.push(
      codeFinding("legacy_file", "env.py", undefined, "", "is not read", "Rename it to tools.py.", "warning"),
    );
  return findings;
}
