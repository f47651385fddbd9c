import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const version = spawnSync("python3", ["-c", "import sys; print(sys.version_info >= (3, 10))"], {
  encoding: "utf8",
}).stdout;
const hasPython = version?.trim() === "True";
if (!hasPython)
  process.stderr.write("skipped: there is no python3 of version 3.10 or newer on this machine\n");

const REWARDS = `
import rnow.core as rc
from rnow.core import RewardArgs, get_response, llm_judge, reward as r
from rnow.models import ToolArgs

@r
def exact(args: RewardArgs, messages: list) -> float:
    return args.metadata["n"] % 10

@rc.reward(precondition=True, timeout=2)
async def text(args: RewardArgs, messages: list) -> float:
    return len(get_response(messages))

@r
def nothing(args: RewardArgs, messages: list) -> float:
    pass

@r
def infinite(args: RewardArgs, messages: list) -> float:
    return float("inf")

@r
def raises(args: RewardArgs, messages: list) -> float:
    raise TimeoutError("its own")

@r
def leaves(args: RewardArgs, messages: list) -> float:
    raise SystemExit("gone")

@r
def judged(args: RewardArgs, messages: list) -> float:
    return llm_judge("good?", secrets=args.secrets)

@r
def detailed(args: RewardArgs, messages: list) -> float:
    return {"score": True, "metrics": {"length": 3}, "reason": "r" * 3000}
`;
const TOOLS = `
from typing import Any, Literal, Optional, Union
from rnow.core.tool import tool
from rnow.models import ToolArgs

@tool
def typed(
    a: int | None,
    b: Literal[1, 2],
    c: list[str],
    context: ToolArgs,
    d: Optional[dict] = None,
    e: Any = None,
    f: "Union[int, list[int]]" = 3,
    g: bool = False,
) -> list:
    """Does much.

    And more.
    """
    return [a, b, c, d, f, g, context.metadata["key"]]

@tool(timeout=1.5)
async def odd(n: float) -> object:
    """Returns what is no JSON."""
    return object() if n == 1 else "x" * 200_000
`;
const PRINTS = `
import os
print("to the side")
os.system("echo from a program")
`;

type Answer = { value?: unknown; error?: { code: string; message: string } };

describe.skipIf(!hasPython)("the host of Python user code", () => {
  const folder = mkdtempSync(join(tmpdir(), "spotter-host-"));
  const answers = new Map<string, Answer>();
  let said = "";

  beforeAll(() => {
    if (!hasPython) return;
    writeFileSync(join(folder, "rewards.py"), PRINTS + REWARDS);
    writeFileSync(join(folder, "tools.py"), TOOLS);
    const requests = [
      JSON.stringify({ id: "load", op: "load", folder, files: ["rewards.py", "tools.py"], secrets: {} }),
      ...["exact", "text", "nothing", "infinite", "raises", "leaves", "judged", "detailed", "absent"].map(
        (name) =>
          // As text: JSON.stringify would round the number.
          `{"id":"${name}","op":"reward","name":"${name}","timeoutMs":5000,"metadata":{"n":90071992547409931234567},` +
          `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"ab"},` +
          `{"type":"thinking","thinking":"c"}]},{"role":"tool","content":"no"}]}`,
      ),
      ...Object.entries({
        typed: { a: "3", b: 1, c: ["x"], g: "yes" },
        wrong: { a: "q", b: 3, z: 1 },
        object: 5,
      }).map(([id, input]) =>
        JSON.stringify({ id, op: "tool", name: "typed", timeoutMs: 5000, input, metadata: { key: "k" } }),
      ),
      ...[1, 2].map((n) =>
        JSON.stringify({ id: `odd${n}`, op: "tool", name: "odd", timeoutMs: 5000, input: { n } }),
      ),
    ];
    // One process for all tests; it ends by itself once it has read and answered everything.
    const script = `import subprocess, sys, time
host = subprocess.Popen([sys.executable, "-B", sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
lines = sys.stdin.buffer.read().splitlines(True)
host.stdin.writelines(lines)
host.stdin.flush()
for _ in lines:
    sys.stdout.buffer.write(host.stdout.readline())
host.stdin.close()
sys.exit(host.wait(5))`;
    const host = spawnSync("python3", ["-c", script, "engine/python/user_code.py"], {
      input: `${requests.join("\n")}\n`,
      encoding: "utf8",
    });
    expect(host.status).toBe(0);
    said = host.stderr;
    for (const line of host.stdout.trim().split("\n")) {
      const { id, ...answer } = JSON.parse(line) as { id: string } & Answer;
      answers.set(id, answer);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("describes rewards, and tools by their type hints", () => {
    expect(answers.get("load")?.value).toMatchObject({
      rewards: [
        { name: "exact", precondition: false },
        { name: "text", precondition: true, timeoutMs: 2000 },
        ...Array(6)
          .fill(0)
          .map(() => expect.anything() as unknown),
      ],
      tools: [
        {
          name: "typed",
          description: "Does much.\n\nAnd more.",
          parameters: {
            type: "object",
            properties: {
              a: { type: ["integer", "null"] },
              b: { type: "integer", enum: [1, 2] },
              c: { type: "array", items: { type: "string" } },
              d: { type: ["object", "null"] },
              e: {},
              f: { anyOf: [{ type: "integer" }, { type: "array", items: { type: "integer" } }] },
              g: { type: "boolean" },
            },
            required: ["a", "b", "c"],
          },
        },
        { name: "odd", timeoutMs: 1500 },
      ],
    });
  });

  it("gets numbers of any size exactly, and the last words of the model", () => {
    expect(answers.get("exact")).toEqual({ value: 7 });
    expect(answers.get("text")).toEqual({ value: 2 });
  });

  it.each([
    ["nothing", "reward_invalid", "it returned None, not a number"],
    ["infinite", "reward_invalid", "it returned inf, which is no finite number"],
    ["raises", "reward_failed", "TimeoutError: its own (at rewards.py:28)"],
    ["leaves", "reward_failed", "SystemExit: gone (at rewards.py:32)"],
    ["judged", "reward_failed", "ValueError: llm_judge needs a key"],
    ["absent", "reward_missing", "there is no reward absent"],
    ["object", "tool_failed", "the arguments must be an object with a, b, c, d, e, f, g"],
    ["odd1", "tool_invalid", "it returned something that is not JSON"],
    ["odd2", "tool_invalid", "it returned 200002 bytes of JSON; 131072 is the most"],
  ])("says why there is no answer of %s", (id, code, message) => {
    expect(answers.get(id)?.error).toEqual({ code, message: expect.stringContaining(message) as string });
  });

  it("takes a score with metrics and a reason, of which it keeps 2,000 characters", () => {
    expect(answers.get("detailed")?.value).toEqual({
      score: 1,
      metrics: { length: 3 },
      reason: "r".repeat(2000),
    });
  });

  it("reads what a model wrote as the types that it stands for, and names every fault", () => {
    expect(answers.get("typed")).toEqual({ value: [3, 1, ["x"], null, 3, true, "k"] });
    expect(answers.get("wrong")?.error?.message).toBe(
      "c is missing; there is no parameter z; a must be of type integer or null; b must be one of 1, 2",
    );
  });

  it("keeps what user code prints apart from its answers", () => {
    expect(said).toContain("to the side");
    expect(said).toContain("from a program");
  });
});
