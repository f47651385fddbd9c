import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { JsonlDataset, recipes, Run, type RunEvent, TrainConfig } from "../../sdk/index.ts";
import { findDaemon } from "../../sdk/local/find-daemon.ts";
import { ownHome } from "./home.ts";

const script = fileURLToPath(new URL("../fixtures/sdk/launch-and-wait.ts", import.meta.url));
const haiku = new URL("../../examples/haiku/", import.meta.url);

describe("interruptions", () => {
  const { home } = ownHome();

  it("lose nothing when the script is killed while it trains (40)", async () => {
    const child = spawn(process.execPath, ["--no-warnings", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [output] = (await once(child.stdout, "data")) as [Buffer];
    const run = await Run.get(output.toString());
    for await (const { body } of run.events()) if (body.type === "metrics") break;
    child.kill("SIGKILL");
    await once(child, "exit");
    const { run: ended } = await run.result();
    expect(ended).toMatchObject({ state: "succeeded", step: 6 });
  });

  it("lose nothing and repeat nothing when the daemon is killed: whoever follows the run goes on", async () => {
    const run = await new TrainConfig({
      model: "spotter/nano",
      dataset: new JsonlDataset(new URL("train.jsonl", haiku), { inputColumn: "keywords" }),
      recipe: recipes.grpo({ steps: 12, promptsPerStep: 2, samplesPerPrompt: 2, maxTokens: 8, saveEvery: 4 }),
      rewards: new URL("rewards.ts", haiku),
    }).launch();
    const events: RunEvent[] = [];
    let killedPid: number | undefined;
    for await (const event of run.events()) {
      events.push(event);
      if (event.body.type !== "metrics" || killedPid !== undefined) continue;
      killedPid = (await findDaemon(home))?.pid;
      process.kill(killedPid ?? 0, "SIGKILL");
    }
    expect((await findDaemon(home))?.pid).not.toBe(killedPid);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const steps = events.flatMap(({ body }) => (body.type === "metrics" ? [body.step] : []));
    expect(new Set(steps).size).toBe(12);
    expect((await run.result()).run).toMatchObject({ state: "succeeded", step: 12 });
  });
});
