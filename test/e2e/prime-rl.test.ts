import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Run } from "../../sdk/index.ts";
import type { ExportedSequence } from "../../sdk/config/prime-rl/embedded/token-exports.ts";
import { runCli } from "../sdk/cli/run-cli.ts";
import { ownHome } from "./home.ts";
import { expectPlays, FEW } from "./plays-example.ts";

describe("prime-rl's configurations on this machine", () => {
  ownHome();
  const folder = mkdtempSync(join(tmpdir(), "spotter-prime-rl-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  it("trains from two files and flags, and exports the tokens that it learned (B3, B48)", async () => {
    const words = ["rl", "@", "examples/reverse_text/rl.toml", "@", "examples/reverse_text/nano.toml"];
    const { code, out, err } = await runCli([
      ...words,
      ...FEW,
      "--output-dir",
      folder,
      "--trainer.enable-token-export",
    ]);
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(out).toMatch(/run-\w+ trains spotter\/nano: http/);
    expect(out).toMatch(/step 1\/1 +succeeded/);
    const lines = readFileSync(join(folder, "token_exports/step_1/rank_0.jsonl"), "utf8").trim().split("\n");
    const exported = lines.map((line) => JSON.parse(line) as ExportedSequence);
    expect(exported.length).toBe(8);
    for (const { token_ids, loss_mask, inference_logprobs, env_name } of exported) {
      expect(env_name).toBe("reverse-text");
      expect([loss_mask.length, inference_logprobs.length]).toEqual([token_ids.length, token_ids.length]);
      expect(inference_logprobs.every((value, at) => (loss_mask[at] ? value <= 0 : value === 0))).toBe(true);
    }
  });

  // test/long/alphabet-sort.test.ts does the same with the other example of several turns.
  it("plays wordle as its file stands, with another model (B48)", () => expectPlays("wordle"));

  it("trains on examples from an sft.toml", async () => {
    const words = ["sft", "@", "examples/reverse_text/sft.toml", "@", "examples/reverse_text/nano-sft.toml"];
    const { code, out } = await runCli([...words, "--max-steps", "2"]);
    expect(code).toBe(0);
    expect(out).toMatch(/step 2\/2 +succeeded/);
  });

  it("serves the model of an inference configuration, as an endpoint (B1)", async () => {
    const { code, out } = await runCli(["inference", "--model.name", "spotter/nano", "--json"]);
    expect(code).toBe(0);
    const { endpoint } = JSON.parse(out) as { endpoint: { name: string; state: string } };
    expect(endpoint.state).toBe("ready");
    expect((await runCli(["endpoint", "chat", endpoint.name, "Hello"])).code).toBe(0);
  });

  it("starts nothing that it cannot do, and says all of it", async () => {
    const before = (await Run.list()).length;
    const words = ["rl", "@", "examples/wiki_search/rl.toml", "--model.name", "spotter/nano"];
    const { code, err } = await runCli(words);
    expect(code).toBe(2);
    expect(err).toContain('There is no environment "primeintellect/wiki-search" here.');
    expect(await runCli(["trainer"])).toMatchObject({ code: 2 });
    expect((await Run.list()).length).toBe(before);
  });
});
