import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Run } from "../../../../sdk/run.ts";
import { TrainConfig } from "../../../../sdk/train-config.ts";
import { runCli } from "../run-cli.ts";

const WORDS = ["rl", "@", "examples/reverse_text/rl.toml", "@", "examples/reverse_text/nano.toml", "--json"];

describe("a run that spotter rl follows", () => {
  const launch = vi.spyOn(TrainConfig.prototype, "launch");
  beforeEach(() => {
    launch.mockReset();
  });
  afterAll(() => {
    launch.mockRestore();
  });

  it("goes on after an interrupt, and whoever stopped looking is told how to look again", async () => {
    const interrupt = new AbortController();
    const run = {
      id: "run-1",
      record: { model: "spotter/nano" },
      result: () => {
        interrupt.abort(new Error("Interrupted."));
        return Promise.reject(interrupt.signal.reason as Error);
      },
    };
    launch.mockResolvedValue(run as unknown as Run);
    const { code, out, err } = await runCli(WORDS, { signal: interrupt.signal });
    expect({ code, out }).toEqual({ code: 130, out: "" });
    expect(err).toContain("run-1 goes on. Look again: spotter run watch run-1\n");
    expect(err).toContain("End it: spotter run cancel run-1\n");
  });

  it("tells W&B only with a key that was granted, and nothing where records stay here", async () => {
    launch.mockRejectedValue(new Error("launched"));
    const trackersWith = async (...words: string[]) => {
      launch.mockClear();
      await runCli([...WORDS, ...words]);
      return (launch.mock.contexts[0] as TrainConfig | undefined)?.params.trackers;
    };
    const wandb = ["--wandb.project", "haiku", "--wandb.entity", "team"];
    expect(await trackersWith(...wandb)).toBeUndefined();
    expect(await trackersWith(...wandb, "--wandb-secret", "KEY")).toEqual([
      { kind: "wandb", project: "haiku", entity: "team", secret: "KEY" },
    ]);
    expect(await trackersWith("--no-wandb", "--wandb-secret=KEY")).toBeUndefined();
    const { code, out } = await runCli([...WORDS, "--wandb-secret"]);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ error: { code: "invalid_input", where: "--wandb-secret" } });
  });

  it("is not begun where its exports cannot be written", async () => {
    const folder = mkdtempSync(join(tmpdir(), "spotter-launch-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "file"), "");
    const words = ["--trainer.enable-token-export", "--output-dir", join(folder, "file")];
    const { code, out } = await runCli([...WORDS, ...words]);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      error: { code: "invalid_input", where: join(folder, "file/token_exports") },
    });
    expect(launch).not.toHaveBeenCalled();
  });
});
