import { describe, expect, it } from "vitest";
import { BASE, configOf, errorsOf, expectFixed, resolving } from "./resolving.ts";

const rl = (overlay: string, flags: string[] = []) => resolving("rl", [BASE, overlay], flags);

describe("shared fields", () => {
  it("reach every component that does not say them itself", async () => {
    const config = configOf(
      await rl(`
[log]
level = "debug"
[ckpt]
interval = 5
keep_last = 2
[wandb]
entity = "us"
tags = ["a"]
[tokenizer]
chat_template = "t"
[orchestrator.model]
trust_remote_code = true
`),
    );
    expect(config).toMatchObject({
      trainer: {
        model: { name: "Qwen/Qwen3-0.6B", seq_len: 2048 },
        log: { level: "debug" },
        ckpt: { interval: 5, keep_last: 2 },
        wandb: { entity: "us", tags: ["a"] },
        tokenizer: { chat_template: "t" },
        max_steps: 20,
        output_dir: "outputs",
      },
      orchestrator: {
        log: { level: "debug" },
        ckpt: { interval: 5, keep_last: 2 },
        tokenizer: { chat_template: "t", trust_remote_code: true },
        seq_len: 2048,
        max_steps: 20,
        output_dir: "outputs/run_default",
      },
      inference: { model: { name: "Qwen/Qwen3-0.6B", chat_template: "t" }, log: { level: "debug" } },
    });
    await expectFixed("rl", config);
  });

  it("remember where they were said", async () => {
    const { provenance } = await rl("", ["--wandb.name", "mine"]);
    expect(provenance).toMatchObject({
      "trainer.model.name": "model.name (0.toml:5)",
      "orchestrator.max_steps": "max_steps (0.toml:2)",
      "trainer.wandb.name": "wandb.name (--wandb.name)",
      "inference.model.tool_call_parser": "inference.model.name",
    });
  });

  it("are reported all at once where a component says otherwise, each at its place", async () => {
    const { findings } = await rl('[trainer]\nmax_steps = 30\n[inference.model]\nname = "x"', [
      "--orchestrator.seq-len",
      "4",
    ]);
    expect(findings).toMatchObject([
      { path: "orchestrator.seq_len", file: null },
      {
        path: "trainer.max_steps",
        file: "1.toml",
        line: 2,
        hint: expect.stringContaining("max_steps") as string,
      },
      { path: "inference.model.name", file: "1.toml", line: 4 },
    ]);
  });

  it("agree with the same value, be it text or number", async () => {
    configOf(await rl("", ["--trainer.max-steps", "20"]));
  });

  it("that are null, or switched off, do not reach anybody", async () => {
    const config = configOf(await rl("[trainer.ckpt]\n[orchestrator.ckpt]\n[ckpt]\n", ["--no-ckpt"]));
    expect(config).toMatchObject({ ckpt: null, trainer: { ckpt: { interval: null } } });
  });

  it("turn both sides on by an empty table", async () => {
    expect(configOf(await rl("[ckpt]\n[wandb]"))).toMatchObject({
      trainer: { ckpt: {}, wandb: { project: "prime-rl" } },
      orchestrator: { ckpt: {}, wandb: { project: "prime-rl" } },
    });
  });

  it("with a default give way to a component, and say so where they were set", async () => {
    const own = await rl("[trainer.log]\njson_logging = true");
    expect(own.findings).toEqual([]);
    await expectFixed("rl", configOf(own));
    const set = await rl("[log]\njson_logging = false\n[trainer.log]\njson_logging = true");
    expect(set.findings).toMatchObject([{ severity: "warning", path: "trainer.log.json_logging" }]);
    expect(set.config).toMatchObject({ trainer: { log: { json_logging: true } } });
  });

  it("take what both components say where nobody sets them", async () => {
    const config = configOf(
      await rl(
        '[wandb]\n[trainer.wandb]\nproject = "p"\n[orchestrator.wandb]\nproject = "p"\n' +
          '[trainer]\noutput_dir = "/a"\n[orchestrator]\noutput_dir = "/a/run_7"',
      ),
    );
    expect(config).toMatchObject({ wandb: { project: "p" }, output_dir: "/a" });
    await expectFixed("rl", config);
  });

  it("do not hide two models behind a table without a name", async () => {
    const bare = BASE.replace('name = "Qwen/Qwen3-0.6B"', "");
    const one = await resolving(
      "rl",
      [bare],
      [
        "--trainer.model.name",
        "Qwen/Qwen3-4B",
        "--orchestrator.model.name",
        "Qwen/Qwen3-4B",
        "--inference.model.name",
        "Qwen/Qwen3-4B",
      ],
    );
    expect(configOf(one)).toMatchObject({ model: { name: "Qwen/Qwen3-4B" } });
    const two = await resolving("rl", [bare], ["--trainer.model.name", "Qwen/Qwen3-4B"]);
    expect(errorsOf(two)).toEqual(["model.name"]);
  });

  it.each([
    ["", "run_default"],
    [".", "run_default"],
    ["/", "/run_default"],
    ["/a/b/", "/a/b/run_default"],
  ])("put the orchestrator's folder into %j", async (folder, expected) => {
    const config = configOf(await rl(`output_dir = "${folder}"`));
    expect(config).toMatchObject({ orchestrator: { output_dir: expected } });
    await expectFixed("rl", config);
  });

  it("keep the orchestrator's folder in the run's", async () => {
    expect(errorsOf(await rl('output_dir = "/a"\n[orchestrator]\noutput_dir = "/b/run_default"'))).toContain(
      "orchestrator.output_dir",
    );
  });
});

describe("former names", () => {
  const without = BASE.replace('[[orchestrator.train.env]]\nid = "reverse-text"\n', "");

  it("still work, with a warning", async () => {
    const old = `${without}[[orchestrator.env]]\nid = "reverse-text"\nnum_workers = 3\n[orchestrator.sampling]\nmax_tokens = 9\n`;
    const resolution = await resolving("rl", [old]);
    expect(configOf(resolution)).toMatchObject({
      orchestrator: {
        train: {
          env: [{ id: "reverse-text", pool: { type: "static", num_workers: 3 } }],
          sampling: { max_completion_tokens: 9 },
        },
      },
    });
    expect(resolution.findings.map(({ severity, path, line }) => [severity, path, line])).toEqual([
      ["warning", "orchestrator.env", 12],
      ["warning", "orchestrator.train.env.0.num_workers", 14],
      ["warning", "orchestrator.sampling", 15],
    ]);
  });

  it("beside the present ones are refused instead of dropped", async () => {
    expect(errorsOf(await rl('[[orchestrator.env]]\nid = "x"'))).toEqual(["orchestrator.env"]);
  });

  it("reach the places that a list holds", async () => {
    const config = configOf(await rl("", ["--orchestrator.train.env.0.rollouts-per-example", "8"]));
    expect(config).toMatchObject({ orchestrator: { group_size: 16, train: { env: [{ group_size: 8 }] } } });
  });
});
