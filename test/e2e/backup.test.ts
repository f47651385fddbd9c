import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Client, Dataset, recipes, Run, type RunEvent, Secret, TrainConfig } from "../../sdk/index.ts";
import { stopLocalDaemon } from "../../sdk/local/index.ts";
import { runCli } from "../sdk/cli/run-cli.ts";
import { ownHome } from "./home.ts";

const dataset = Dataset.fromArray(["rain", "snow"].map((topic) => ({ prompt: `Write about ${topic}.` })));
const rewards = new URL("../fixtures/sdk/rewards.ts", import.meta.url);
const recipe = recipes.grpo({ steps: 4, promptsPerStep: 2, samplesPerPrompt: 2, maxTokens: 8, saveEvery: 1 });

describe("a backup", () => {
  const { home } = ownHome();

  it("made while a run trains is a state folder in which the run goes on", async () => {
    await Secret.set("TOKEN", "never-in-a-backup");
    const run = await new TrainConfig({ model: "spotter/nano", dataset, rewards, recipe }).launch();
    for await (const { body } of run.events()) if (body.type === "checkpoint") break;
    const folder = mkdtempSync(join(tmpdir(), "spotter-backup-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "state.tar");
    expect(await runCli(["backup", file])).toMatchObject({ code: 0, err: "" });
    const told = await toEnd(run);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file).includes("never-in-a-backup")).toBe(false);
    expect(await runCli(["backup", file])).toMatchObject({
      code: 2,
      err: expect.stringContaining("exists") as string,
    });

    const restored = join(folder, "restored");
    vi.stubEnv("SPOTTER_HOME", restored);
    mkdirSync(restored);
    writeFileSync(join(restored, "mine"), "");
    expect(await runCli(["restore", file])).toMatchObject({
      code: 2,
      err: expect.stringContaining("not empty") as string,
    });
    rmSync(join(restored, "mine"));
    vi.stubEnv("SPOTTER_HOME", restored);
    const done = await runCli(["restore", file]);
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining("Secrets were not part") as string });
    onTestFinished(async () => void (await stopLocalDaemon({ home: restored })));
    vi.stubEnv("SPOTTER_HOME", restored);
    vi.stubEnv("SPOTTER_URL", "");
    const again = await Run.get(run.id, { client: new Client() });
    const events = await toEnd(again);
    expect((await again.result()).run).toMatchObject({ state: "succeeded", step: 4 });
    // Nothing that was acknowledged before the backup is lost, and metrics come out the same.
    expect(metricsOf(events)).toEqual(metricsOf(told));
    const checkpoints = await again.checkpoints();
    expect(checkpoints.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
    for (const checkpoint of checkpoints) {
      expect(checkpoint.path.startsWith(restored)).toBe(true);
      expect(await checkpoint.verify()).toBeUndefined();
    }
    expect(existsSync(join(home, "state.db"))).toBe(true);
  });

  it("that is cut off or none at all is refused, and leaves no folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "spotter-backup-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "state.tar");
    expect((await runCli(["backup", file])).code).toBe(0);
    truncateSync(file, Math.floor(statSync(file).size / 2));
    writeFileSync(join(folder, "text"), "no archive");
    vi.stubEnv("SPOTTER_HOME", join(folder, "new"));
    for (const name of ["state.tar", "text", "absent"]) {
      const result = await runCli(["restore", join(folder, name), "--json"]);
      expect([name, result.code]).toEqual([name, 2]);
      expect(JSON.parse(result.out)).toMatchObject({ error: { where: join(folder, name) } });
      expect(existsSync(join(folder, "new"))).toBe(false);
    }
  });
});

async function toEnd(run: Run): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run.events()) events.push(event);
  return events;
}

/** The last word on each step, without what a clock has a part in. */
function metricsOf(events: RunEvent[]): Record<string, unknown> {
  return Object.fromEntries(
    events.flatMap(({ body }) =>
      body.type === "metrics" && "reward/mean" in body.metrics
        ? [[`step ${body.step}`, body.metrics["reward/mean"]]]
        : [],
    ),
  );
}
