import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { BASE } from "../config/project-folder/check.ts";
import { projectFolder } from "../config/project-folder/folder.ts";
import { runCli } from "../cli/run-cli.ts";
import { fakeGym } from "./gym.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 on this machine\n");

const REWARDS = `from rnow.core import RewardArgs, get_response, reward

@reward
def exact(args: RewardArgs, messages: list) -> float:
    """1 where the last four digits of a number that JavaScript cannot hold were said, and the key is there."""
    if get_response(messages) == "":
        raise ValueError("nothing was said")
    if args.secrets["KEY"] != "granted":
        return 0.0
    return 1.0 if get_response(messages).endswith(str(args.metadata["id"])[-4:]) else 0.0

@reward
def asked(args: RewardArgs, messages: list) -> float:
    said = [each["content"] for each in messages if each["role"] == "tool"]
    return 1.0 if "12345678901234567891" in "".join(said) else 0.0
`;

const TOOLS = `from rnow.core import ToolArgs, tool

@tool
def look_up(what: str, args: ToolArgs) -> dict:
    """Looks something up."""
    print("looking up")
    return {"id": args.metadata["id"], "what": what}
`;

const FILES = {
  "rewards.py": REWARDS,
  "tools.py": TOOLS,
  "config.yml": `${BASE.replace("Qwen/Qwen3-8B", "spotter/nano")}rollout: { max_turns: 2 }\n`,
  "train.jsonl":
    '{"messages":[{"role":"user","content":"The id?"}],"rewards":["exact","asked"],"metadata":{"id":12345678901234567891,"expected_answer":"7891"}}\n'.repeat(
      4,
    ),
  ".env": "KEY=granted\n",
};

// Two programs start for each command: on a busy machine that takes its time.
describe.skipIf(!hasPython)("spotter test --allow-python", { timeout: 30_000 }, () => {
  it("plays rows with rewards.py and tools.py, in a process of this machine", async () => {
    const { url, requests } = await fakeGym();
    const words = ["--model", "mock", "--allow-python", "--secret", "KEY", "--verbose", "--json"];
    const { code, out, err } = await runCli(["test", "-d", projectFolder(FILES), ...words], { url });
    const { rollouts } = JSON.parse(out) as { rollouts: { rewards: object; errors: object }[] };
    expect(rollouts.map(({ rewards, errors }) => ({ rewards, errors }))).toEqual([
      { rewards: { exact: 1, asked: 1 }, errors: {} },
    ]);
    expect(code).toBe(0);
    expect(err).toContain("python: looking up");
    // Nothing of it goes to the control plane.
    expect(requests.map(({ path }) => path)).toEqual([]);
  });

  it("runs the rewards alone, and tells of a row without a verdict", async () => {
    const { url } = await fakeGym();
    const words = ["--rewards-only", "--allow-python", "--secret", "KEY", "--json"];
    const { code, out } = await runCli(["test", "-d", projectFolder(FILES), ...words], { url });
    const { rewards } = JSON.parse(out) as { rewards: object[] };
    expect(rewards[0]).toMatchObject({
      name: "exact",
      expected: { n: 4, mean: 1 },
      empty: null,
      invalid: 4,
      firstError: { code: "reward_failed", message: "exact: ValueError: nothing was said (at rewards.py:7)" },
    });
    expect(code).toBe(1);
  });

  it("has llm_judge answered by the mock where no model plays, and by nobody else", async () => {
    const judged = `from rnow.core import RewardArgs, get_response, llm_judge, reward

@reward
async def exact(args: RewardArgs, messages: list) -> float:
    return await llm_judge(f"Good? {args.metadata['n']}: {get_response(messages)}", secrets=args.secrets)
`;
    const row = (n: number) =>
      `{"messages":[{"role":"user","content":"?"}],"rewards":["exact"],"metadata":{"n":${n}}}\n`;
    const files = {
      "rewards.py": judged,
      "config.yml": FILES["config.yml"],
      "train.jsonl": [1, 2, 3, 4, 5, 6, 7, 8].map(row).join(""),
    };
    const { url } = await fakeGym();
    const folder = projectFolder(files);
    const words = ["test", "-d", folder, "--all", "--model", "mock", "--allow-python"];
    const { code, out } = await runCli([...words, "--json"], { url });
    const { judge, rollouts } = JSON.parse(out) as {
      judge: object;
      rollouts: { rewards: { exact: number } }[];
    };
    expect([code, judge]).toEqual([0, { model: "mock", asked: 8 }]);
    expect(new Set(rollouts.map(({ rewards }) => rewards.exact))).toEqual(new Set([0, 1]));
  });

  it("says what is wrong before a row is played", async () => {
    const { url } = await fakeGym();
    const words = ["--model", "mock", "--allow-python"];
    const broken = { ...FILES, "rewards.py": `import nothing_of_this_name\n${REWARDS}` };
    const load = await runCli(["test", "-d", projectFolder(broken), ...words], { url });
    expect([load.code, load.err]).toEqual([
      2,
      expect.stringContaining("No module named 'nothing_of_this_name'"),
    ]);
    const folder = projectFolder({ ...FILES, ".env": undefined });
    const secret = await runCli(["test", "-d", folder, ...words, "--secret", "KEY_OF_NOBODY"], { url });
    expect([secret.code, secret.err]).toEqual([
      2,
      expect.stringContaining("KEY_OF_NOBODY is set neither in .env nor in the environment"),
    ]);
  });
});
