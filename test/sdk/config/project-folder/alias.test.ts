import { describe, expect, it } from "vitest";
import { nativeSpec } from "../../../../sdk/config/project-folder/launch-project.ts";
import { resolveProject } from "../../../../sdk/config/project-folder/resolve-project.ts";
import { short, withSection } from "./check.ts";
import { projectFolder } from "./folder.ts";

const TYPESCRIPT = {
  "rewards.py": undefined,
  "rewards.ts": `import { reward } from "spotter";\nexport const accuracy = reward(() => 1);\n`,
};

function resolveFiles(files: Record<string, string | undefined>) {
  return resolveProject(projectFolder(files));
}

describe("model.name", () => {
  it.each([
    ["poet-v1", ["poet-v1"], []],
    ["My poet (v1)", ["My-poet-v1"], ["W not_applied 3:16 model.name"]],
  ])("calls the last checkpoint by model.name: %s (A14)", async (name, aliases, told) => {
    const config = withSection(`model: { path: spotter/nano, name: ${name} }`);
    const { project, runs, findings } = await resolveFiles({ ...TYPESCRIPT, "config.yml": config });
    expect(runs.map(({ plan }) => plan.spec["alias"])).toEqual(aliases);
    expect(short(findings).map((each) => each.replace(/\d+:\d+/, "3:16"))).toEqual(told);
    const [run] = runs;
    if (!project || !run) throw new Error("the project is not valid");
    expect((await nativeSpec(project, run, {})).alias).toBe(aliases[0]);
  });

  it("gives each of several models a name of its own", async () => {
    const config = withSection("model: { path: [Qwen/Qwen3-8B, Qwen/Qwen3-32B], name: poet }");
    const { runs } = await resolveFiles({ ...TYPESCRIPT, "config.yml": config });
    expect(runs.map(({ plan }) => plan.spec["alias"])).toEqual(["poet-Qwen3-8B", "poet-Qwen3-32B"]);
  });
});
