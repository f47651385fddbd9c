import { describe, expect, it } from "vitest";
import { planRl } from "../../../../../sdk/config/prime-rl/embedded/plan-rl.ts";
import { ENTRYPOINTS } from "../../../../../sdk/config/prime-rl/entrypoints.ts";
import { resolve } from "../../../../../sdk/config/prime-rl/resolve.ts";
import type { RlConfig } from "../../../../../sdk/config/prime-rl/rules/configs.ts";

const BASE = `max_steps = 20
seq_len = 512
[model]
name = "spotter/nano"
[trainer.optim]
lr = 1e-3
[orchestrator]
batch_size = 32
group_size = 8
[orchestrator.renderer]
name = "default"
[[orchestrator.train.env]]
`;

async function plan(entry: string, words: string[] = []) {
  const readBytes = () => new TextEncoder().encode(`${BASE}${entry}\n`);
  const { config, provenance, findings } = await resolve(ENTRYPOINTS.rl, ["@", "rl.toml", ...words], {
    readBytes,
  });
  if (config === null) throw new Error(JSON.stringify(findings, null, 2));
  return planRl(config as unknown as RlConfig, provenance, import.meta.dirname);
}

async function errorsOf(entry: string, words?: string[]) {
  const { params, findings } = await plan(entry, words);
  expect(params).toBeNull();
  return findings.filter(({ severity }) => severity === "error");
}

describe("args of a bundled environment", () => {
  it("are refused where they stand, all at once, before anything is started", async () => {
    const errors = await errorsOf(
      'id = "primeintellect/reverse-text@0.1.0"\n[orchestrator.train.env.args]\nwords = 1\nwrods = 2\ncount = 0.5',
    );
    expect(errors).toMatchObject([
      {
        path: "orchestrator.train.env.0.args.wrods",
        message: 'reverse-text takes no "wrods".',
        hint: expect.stringContaining("Did you mean words?") as string,
        file: "rl.toml",
        line: 16,
      },
      {
        path: "orchestrator.train.env.0.args.count",
        message: "count must be a whole number above 0.",
        file: "rl.toml",
        line: 17,
      },
    ]);
  });

  it("of an environment of one's own are its own matter", async () => {
    const errors = await errorsOf('id = "./none.ts"\nargs = { anything = 1 }');
    expect(errors.map(({ path }) => path)).toEqual(["orchestrator.train.env.0.id"]);
  });
});

describe("a taskset", () => {
  it.each(["wordle", "wordle-v1", "primeintellect/wordle"])(
    "%s plays as the environment it is",
    async (id) => {
      const { params, findings } = await plan(`taskset = { id = "${id}", num_train_examples = 5 }`);
      expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
      expect(params?.environments).toMatchObject([
        { export: "wordle", name: id, args: { num_train_examples: 5 }, ratio: 1 },
      ]);
    },
  );

  it("has its fields checked as args are", async () => {
    const errors = await errorsOf('[orchestrator.train.env.taskset]\nid = "wordle"\nseed = "x"');
    expect(errors).toMatchObject([
      { path: "orchestrator.train.env.0.taskset.seed", message: "seed must be a number.", line: 15 },
    ]);
  });

  it("that is not here is refused with the reason", async () => {
    expect(await errorsOf('taskset = { id = "wordel" }')).toMatchObject([
      {
        path: "orchestrator.train.env.0.taskset.id",
        message: 'There is no taskset "wordel" here.',
        hint: expect.stringContaining("Did you mean wordle?") as string,
      },
    ]);
    const replay = 'taskset = { id = "replay", records = "x", source = { id = "wordle" } }';
    expect(await errorsOf(replay)).toMatchObject([
      { message: expect.stringContaining("goes on with recorded rollouts") as string, file: "rl.toml" },
    ]);
  });
});

describe("timeout.rollout", () => {
  it("is the time of all rollouts of a step", async () => {
    const { params } = await plan('id = "wordle"\ntimeout = { rollout = 90.5 }');
    expect(params?.recipe.rollout).toMatchObject({ rolloutTimeoutMs: 90_500 });
    const hour = { rolloutTimeoutMs: 3_600_000 };
    expect((await plan('id = "wordle"')).params?.recipe.rollout).toMatchObject(hour);
  });

  it("is one for all, and the only one", async () => {
    const two = 'id = "wordle"\ntimeout = { rollout = 9 }\n[[orchestrator.train.env]]\nid = "math-env"';
    expect(await errorsOf(two)).toMatchObject([{ path: "orchestrator.train.env.1.timeout.rollout" }]);
    expect(await errorsOf('id = "wordle"\ntimeout = { scoring = 9 }')).toMatchObject([
      { path: "orchestrator.train.env.0.timeout.scoring", file: "rl.toml" },
    ]);
  });
});
