import { describe, expect, it } from "vitest";
import { nativeSpec } from "../../../../sdk/config/project-folder/launch-project.ts";
import { resolveProject } from "../../../../sdk/config/project-folder/resolve-project.ts";
import { withSection } from "./check.ts";
import { projectFolder } from "./folder.ts";

describe("a distillation project as a run", () => {
  it("gives a student tools and turns where its teacher is agentic, and else neither (A38)", async () => {
    const resolved = async (teacher: string) => {
      const config = `${withSection("dataset_type: distill")}teacher: ${teacher}\nrollout: { max_turns: 3 }\n`;
      const tools = `import { tool } from "spotter";\nexport const add = tool({ description: "Adds.", parameters: { type: "object", properties: {} } }, () => 1);\n`;
      const files = { "config.yml": config, "tools.ts": tools };
      const { project, runs } = await resolveProject(projectFolder(files), { model: "spotter/nano" });
      const [run] = runs;
      expect(run?.limits).toEqual([]);
      if (!project || !run) throw new Error("It has errors.");
      return nativeSpec(project, run, {});
    };
    const agentic = await resolved("{ path: spotter/nano, agentic: true }");
    expect(agentic).toMatchObject({ rollout: { maxTurns: 3 }, teacher: { agentic: true } });
    expect(agentic).toHaveProperty("tools.code.sha256");
    const plain = await resolved("{ path: poet@40 }");
    expect(plain).toMatchObject({ rollout: { maxTurns: 1 }, teacher: { checkpoint: "poet@40" } });
    expect(plain).not.toHaveProperty("tools");
    expect(plain).not.toHaveProperty("rewards");
  });
});
