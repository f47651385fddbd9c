import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { main } from "../../sdk/cli/main.ts";
import { Run } from "../../sdk/index.ts";
import { initProject } from "../../sdk/config/project-folder/init-project.ts";
import { TEMPLATES } from "../../sdk/config/project-folder/templates/index.ts";
import { ownHome } from "../e2e/home.ts";

const EXAMPLE = new URL("../../examples/project-folder/", import.meta.url);
const { home } = ownHome();

it("trains the example's poems, and gives the folder its id", async () => {
  const folder = join(home, "example");
  cpSync(EXAMPLE, folder, { recursive: true });
  expect(await main(["run", "-d", folder, "--watch"])).toBe(0);
  const [id = ""] = /^project_id: ".+"$/m.exec(readFileSync(join(folder, "config.yml"), "utf8")) ?? [];
  const [run] = await Run.list({ tag: `project:${id.slice('project_id: "'.length, -1)}` });
  expect(run).toMatchObject({ state: "succeeded", step: 20 });
  const rewards: number[] = [];
  for await (const { body } of (await Run.get(run?.id ?? "")).events())
    if (body.type === "metrics") rewards.push(body.metrics["reward/mean"] ?? Number.NaN);
  const mean = (part: number[]) => part.reduce((sum, each) => sum + each, 0) / part.length;
  expect(mean(rewards.slice(-5)) - mean(rewards.slice(0, 5))).toBeGreaterThan(0.05);
});

it.each(Object.keys(TEMPLATES).filter((name) => name !== "distill" && name !== "haiku"))(
  "trains the template %s for an epoch",
  async (template) => {
    const folder = join(home, template);
    await initProject(folder, { template });
    expect(await main(["run", "-d", folder, "trainer.num_epochs=1", "--watch", "--no-write"])).toBe(0);
    const [run] = await Run.list({ limit: 1 });
    expect(run).toMatchObject({ name: template, state: "succeeded" });
  },
);
