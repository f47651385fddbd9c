import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { hasPython } from "./has-python.ts";

const PYTHON_DIR = fileURLToPath(new URL("../../../../engine/python", import.meta.url));

/** Calls functions of the agent, all in one process; one result a call. */
function callAll(calls: [string, ...unknown[]][]): unknown[] {
  const program = `
import importlib, json, sys
def plain(value):
    if hasattr(value, "_asdict"): return {k: plain(v) for k, v in value._asdict().items() if v is not None}
    if isinstance(value, Exception): return {"code": value.code, "message": value.message}
    return value
out = []
for path, *arguments in json.load(sys.stdin):
    module, name = path.rsplit(".", 1)
    out.append(plain(getattr(importlib.import_module("spotter_agent." + module), name)(*arguments)))
print(json.dumps(out))
`;
  const { stdout, stderr } = spawnSync("python3", ["-c", program], {
    input: JSON.stringify(calls),
    encoding: "utf8",
    env: { PATH: process.env["PATH"], PYTHONPATH: PYTHON_DIR, PYTHONDONTWRITEBYTECODE: "1" },
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as unknown[];
}

const RAY = "(RayTrainGroup pid=77, ip=10.0.0.9) [2026-11-30 12:00:00 actor] model.py:918 - ";

describe.runIf(hasPython)("what an engine's end means", () => {
  const cases: [number | null, string[], boolean, string, string][] = [
    [
      1,
      ["torch.OutOfMemoryError: CUDA out of memory. Tried to allocate"],
      true,
      "container_out_of_memory",
      "CUDA",
    ],
    [-9, ["step 3"], true, "container_out_of_memory", "killed"],
    [137, ["step 3"], true, "container_out_of_memory", "killed"],
    [
      1,
      ["ray.exceptions.OutOfMemoryError: Task was killed"],
      true,
      "container_out_of_memory",
      "want of memory",
    ],
    [1, ["[rank3]: Watchdog caught collective operation timeout"], true, "container_failed", "NCCL"],
    // A warning of NCCL comes by on good days too.
    [1, ["NCCL WARN NET/Plugin: no plugin", "RuntimeError: odd"], true, "engine_failed", "RuntimeError: odd"],
    [1, ["OSError: [Errno 28] No space left on device"], true, "disk_full", "disk is full"],
    [
      1,
      ["NVRM: Xid (PCI:0000:65:00): 79, GPU has fallen off the bus."],
      true,
      "container_failed",
      "GPU is broken",
    ],
    [1, ["huggingface_hub.errors.GatedRepoError: 401 Client Error."], false, "hub_gated", "hub"],
    [1, ['  File "/w/rewards.py", line 3, in f', "KeyError: 'x'"], true, "reward_failed", "KeyError: 'x'"],
    [1, ["reading rewards.py", "RuntimeError: odd"], true, "engine_failed", "RuntimeError: odd"],
    [2, ["train.py: error: unrecognized arguments: --no-such"], false, "invalid_input", "--no-such"],
    [1, ["AssertionError: global_batch_size"], false, "invalid_input", "global_batch_size"],
    // After a step the same words are no matter of settings.
    [1, ["AssertionError: loss is nan"], true, "engine_failed", "loss is nan"],
    [-15, ["step 3"], true, "preempted", "told to end"],
    [null, [], false, "engine_failed", "did not end"],
    [-6, ["free(): invalid pointer"], true, "engine_failed", "SIGABRT"],
    [7, [], true, "engine_failed", "exit code 7"],
  ];
  const results = hasPython
    ? callAll(cases.map(([code, tail, worked]) => ["classify.cause_of_end", code, tail, worked]))
    : [];
  it.each(cases.map((each, index) => [...each, results[index]] as const))(
    "exit code %s after %j, with steps %s: %s",
    (_code, _tail, _worked, code, words, result) => {
      expect(result).toEqual({ code, message: expect.stringContaining(words) as string });
    },
  );
});

describe.runIf(hasPython)("the names that charts know slime's numbers by", () => {
  const names: [string, string][] = [
    ["train/loss", "loss"],
    ["train/lr-pg_0", "lr"],
    ["train/kl_loss", "kl"],
    ["rollout/raw_reward", "reward/mean"],
    ["eval/math", "eval/math"],
    ["eval/eval", "eval/reward/mean"],
    ["eval/eval/response_len/mean", "eval/response_len/mean"],
    ["eval/eval-no_verdict", "eval/missing_verdicts"],
    ["train/critic-value_loss", "train/critic-value_loss"],
  ];
  it("are Spotter's own where it has some", () => {
    const found = callAll(names.map(([name]) => ["engines.slime.own_name", name]));
    expect(found).toEqual(names.map(([, own]) => own));
  });
});

describe.runIf(hasPython)("what the lines of slime tell", () => {
  const lines: [string, unknown][] = [
    [`${RAY}Timer train_wait start`, { phase: "generate", is_rollout: false, is_optimizer_step: false }],
    [`${RAY}Timer unknown_thing start`, null],
    [
      `${RAY}step 4: {'train/loss': np.float64(0.5), 'train/lr-pg_0': 1e-06, 'train/kl_loss': tensor(0.25)}`,
      {
        step: 5,
        values: { "train/loss": 0.5, "train/lr-pg_0": 1e-6, "train/kl_loss": 0.25 },
        is_rollout: false,
        is_optimizer_step: true,
      },
    ],
    [
      `${RAY}rollout 4: {'rollout/raw_reward': -0.5, 'rollout/nan_share': nan, 'rollout/top': inf, 'rollout/x': -inf}`,
      { step: 5, values: { "rollout/raw_reward": -0.5 }, is_rollout: true, is_optimizer_step: false },
    ],
    [
      `${RAY}eval 9: {'eval/math': 0.75, 'eval/is_on': True, 'eval/name': 'x'}`,
      { step: 10, values: { "eval/math": 0.75 }, is_rollout: false, is_optimizer_step: false },
    ],
    [
      `${RAY}eval 9: {'eval/eval': 0.5, 'eval/eval/response_len/mean': 7, 'eval/eval-no_verdict': 1}`,
      {
        step: 10,
        values: { "eval/eval": 0.5, "eval/eval/response_len/mean": 7, "eval/eval-no_verdict": 1 },
        is_rollout: false,
        is_optimizer_step: false,
      },
    ],
    // Ray paints the names of its processes.
    [
      `\u001b[36m(RayTrainGroup pid=7)\u001b[0m [2026-11-30 12:00:00] model.py:1 - Timer actor_train start`,
      { phase: "train", is_rollout: false, is_optimizer_step: false },
    ],
    // Numbers that are none, and text that only looks like the logger's.
    [`${RAY}step 1: {'a': ${"9".repeat(400)}, 'b': 1e999}`, null],
    ["step 4: {'train/loss': 1}", null],
    [`${RAY}step 9999999999: {'train/loss': 1}`, null],
    // Whatever a model wrote is only a line of the log.
    [`${RAY}step 4: {'train/loss': __import__('os').system('true')}`, null],
    [`${RAY}step 4: {'train/loss': 1`, null],
    [`${RAY}step 4: {}`, null],
    [`${RAY}step 3: {${"[".repeat(3000)}}`, null],
  ];
  const results = hasPython ? callAll(lines.map(([line]) => ["engines.slime.read_line", line])) : [];
  it.each(lines.map(([line, told], index) => [line.slice(0, 90), told, results[index]] as const))(
    "%s",
    (_line, told, result) => expect(result).toEqual(told),
  );
});
