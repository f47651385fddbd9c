import { describe, expect, it } from "vitest";
import { configOf, errorsOf, expectFixed, resolving } from "./resolving.ts";

const ENV = '[[train.env]]\nid = "reverse-text"\n';
const orchestrator = (toml: string, env = ENV) => resolving("orchestrator", [env, toml]);
const frozen = '{ name = "t", base_url = ["http://t/v1"] }';

describe("an orchestrator refuses", () => {
  it.each([
    [
      "a batch of both kinds",
      "batch_size = 8\ntoken_batch_size = 8\nmax_inflight_rollouts = 8",
      ["token_batch_size"],
    ],
    ["a batch of tokens without a limit", "token_batch_size = 8", ["token_batch_size"]],
    [
      "a factor on tokens",
      "token_batch_size = 8\nmax_inflight_rollouts = 8\noversampling_factor = 2.0",
      ["oversampling_factor"],
    ],
    ["a batch that groups do not fill", "batch_size = 100\ngroup_size = 16", ["batch_size"]],
    [
      "fewer rollouts than a group",
      "batch_size = 16\ngroup_size = 16\nmax_inflight_rollouts = 8",
      ["max_inflight_rollouts"],
    ],
    [
      "two counts of rollouts",
      "batch_size = 16\noversampling_factor = 2.0\nmax_inflight_rollouts = 8",
      ["max_inflight_rollouts"],
    ],
    ["a model without a known renderer", '[model]\nname = "me/mine"', ["renderer.name"]],
    [
      "two filters of a type",
      '[[pre_batch_filters]]\ntype = "gibberish"\n[[pre_batch_filters]]\ntype = "gibberish"',
      ["pre_batch_filters.1.type"],
    ],
    ["a filter without a type", "[[post_batch_filters]]\nenforce = true", ["post_batch_filters.0"]],
    ["an evaluation of nothing", "[eval]", ["eval.env"]],
    ["two evaluations of a name", '[[eval.env]]\nid = "a"\n[[eval.env]]\nid = "a"', ["eval.env.1.name"]],
    ["learning by grpo from another model", `[algo.sampling]\nsource = ${frozen}`, ["algo.sampling.source"]],
    ["sft from itself", '[algo]\ntype = "sft"', ["algo.sampling.source"]],
    ["echo of nobody", '[algo]\ntype = "echo"\nroles = {}', ["algo.roles"]],
    ["a teacher without an address", '[algo]\ntype = "opd"\nteacher = { name = "t" }', ["algo.teacher"]],
    [
      "a pool for nobody",
      `pool_size = 2\n[algo]\ntype = "sft"\nsampling = { source = ${frozen} }`,
      ["pool_size"],
    ],
  ])("%s", async (_, toml, paths) => {
    expect(errorsOf(await orchestrator(toml))).toEqual(paths);
  });

  it.each([
    ["an environment without a name", "[[train.env]]\nratio = 2", ["train.env.0"]],
    ["the name of the sum", '[[train.env]]\nid = "agg"', ["train.env.0.name"]],
    ["no weight", '[[train.env]]\nid = "a"\nratio = 0', ["train.env.0.ratio"]],
    [
      "two names of a setting",
      '[[train.env]]\nid = "a"\ngroup_size = 1\nrollouts_per_example = 1',
      ["train.env.0.group_size"],
    ],
    [
      "an algorithm of its own without a teacher's address",
      '[[train.env]]\nid = "a"\nalgo = { type = "opd", teacher = { name = "t" } }',
      ["train.env.0.algo.teacher"],
    ],
  ])("%s", async (_, env, paths) => {
    expect(errorsOf(await orchestrator("", env))).toEqual(paths);
  });
});

describe("two environments of one id", () => {
  it("need a name each, unique in their group", async () => {
    const two = (names: string) => `[[train.env]]\nid = "a"\n${names}\n[[train.env]]\nid = "a"`;
    expect(errorsOf(await orchestrator("", two("")))).toEqual(["train.env.1.name"]);
    const named = await orchestrator('[eval]\n[[eval.env]]\nid = "a"', two('name = "first"'));
    expect(errorsOf(named)).toEqual([]);
  });
});

describe("an orchestrator completes", () => {
  it("environments from their group, and their requests", async () => {
    const toml = `
group_size = 4
seq_len = 512
[train.sampling]
temperature = 0.5
max_completion_tokens = 64
`;
    const env = `
[[train.env]]
id = "a"
ratio = 3
max_output_tokens = 9
[train.env.timeout]
rollout = 7.5
[train.env.sampling]
temperature = 0.7
extra_body = { top_k = 5 }
[[train.env]]
taskset = { id = "tasks-v1", level = "hard" }
group_size = 2
`;
    const config = configOf(await orchestrator(toml, env));
    expect(config).toMatchObject({
      train: {
        env: [
          {
            id: "a",
            ratio: 3,
            group_size: 4,
            algo: { type: "grpo" },
            sampling: {
              temperature: 0.7,
              max_completion_tokens: 64,
              extra_body: { top_k: 5, min_p: 0, return_token_ids: true },
            },
            extra_env_kwargs: { timeout_seconds: 7.5, max_total_completion_tokens: 9, max_seq_len: 512 },
          },
          {
            taskset: { id: "tasks-v1", level: "hard" },
            group_size: 2,
            ratio: 1,
            sampling: { temperature: 0.5, max_completion_tokens: 64 },
            extra_env_kwargs: {},
          },
        ],
      },
    });
    await expectFixed("orchestrator", config);
  });

  it("evaluations from their group, each for itself", async () => {
    const config = configOf(
      await orchestrator(`
[eval]
interval = 5
rollouts_per_example = 8
[eval.sampling]
top_p = 0.9
[[eval.env]]
id = "a"
[[eval.env]]
id = "b"
interval = 7
num_examples = 3
sampling = { top_p = "None" }
`),
    );
    expect(config).toMatchObject({
      eval: {
        group_size: 8,
        env: [
          { interval: 5, group_size: 8, num_examples: -1, sampling: { top_p: 0.9 } },
          { interval: 7, group_size: 8, num_examples: 3, sampling: { top_p: null } },
        ],
      },
    });
    await expectFixed("orchestrator", config);
  });

  it("the batch, the header that keeps a rollout on one server, the monitor's name", async () => {
    const config = configOf(await orchestrator('group_size = 2\n[wandb]\nname = "w"\n[prime_monitor]'));
    expect(config).toMatchObject({
      batch_size: 128,
      max_inflight_rollouts: 128,
      model: { client: { extra_headers_from_state: { "X-Session-ID": "trajectory_id" } } },
      prime_monitor: { run_name: "w" },
    });
    await expectFixed("orchestrator", config);
  });

  it("requests to other models with nothing that only the policy's server knows", async () => {
    const config = configOf(await orchestrator(`[algo]\ntype = "sft"\nsampling = { source = ${frozen} }`));
    expect(config).toMatchObject({ train: { env: [{ sampling: { extra_body: {} } }] } });
    await expectFixed("orchestrator", config);
  });

  it("a measurement: four steps, no evaluation", async () => {
    const config = configOf(await orchestrator('bench = true\n[wandb]\n[eval]\n[[eval.env]]\nid = "a"'));
    expect(config).toMatchObject({ max_steps: 4, eval: null, wandb: { log_extras: null } });
    await expectFixed("orchestrator", config);
  });

  it("echo with the tool's words, or with the roles that are named", async () => {
    expect(configOf(await orchestrator('[algo]\ntype = "echo"'))).toMatchObject({
      algo: { roles: { tool: { alpha: 0.1 }, user: null } },
    });
    expect(
      configOf(await orchestrator('[algo]\ntype = "echo"\nroles = { user = { alpha = 0.2 } }')),
    ).toMatchObject({
      algo: { roles: { tool: null, user: { alpha: 0.2 } } },
    });
  });
});
