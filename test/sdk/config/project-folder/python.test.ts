import { describe, expect, it } from "vitest";
import { readPython } from "../../../../sdk/config/project-folder/python/functions.ts";
import { parsePython, sourceOf } from "../../../../sdk/config/project-folder/python/statements.ts";
import { pythonRewards } from "../../../../sdk/config/project-folder/python/rewards.ts";
import { pythonTools } from "../../../../sdk/config/project-folder/python/tools.ts";
import { short } from "./check.ts";
import { IMPORT, REWARDS, TOOLS } from "./python-cases.ts";

const HARD = `#!/usr/bin/env python3
"""A docstring with def fake(): and
@reward in it"""
from __future__ import annotations
import re, json as js
from rnow.core import (
    reward as scored,  # a comment with "quotes
    RewardArgs,
)
PATTERN = r"\\boxed\\{'" 'x' f"{js}"
TABLE = {
  "a": [1, 2,
        3],
}
if True: X = 1; Y = 2
def helper(a, *, b: int = max(1, 2), **rest): return lambda x: x

@scored(
    precondition=True,
    timeout=1_0,
)
@other.thing
async def gate(args: "RewardArgs", messages: list[dict]) -> "float":
    '''One "line".'''
    def nested() -> int:
        return 100
    total = 1 + \\
        2
    if total == 3 and re.search(r"""a
  b""", "x"):
        return 1.0
    else:
        return 0.0
`;

describe("reading Python", () => {
  it("follows texts, comments, brackets, continuations and blocks", () => {
    const { functions, imports, fault, modules } = readPython(HARD);
    expect(fault).toBeUndefined();
    expect(functions.map(({ name, isAsync }) => [name, isAsync])).toEqual([
      ["helper", false],
      ["gate", true],
    ]);
    const [helper, gate] = functions;
    expect(
      helper?.parameters.map(({ stars, name, annotation, initial }) => [stars + name, annotation, initial]),
    ).toEqual([
      ["a", undefined, undefined],
      ["b", "int", "max(1,2)"],
      ["**rest", undefined, undefined],
    ]);
    expect(gate?.decorators.map(({ name }) => name)).toEqual(["rnow.core.reward", "other.thing"]);
    expect([...(gate?.decorators[0]?.keywords ?? [])].map(([key, { source }]) => [key, source])).toEqual([
      ["precondition", "True"],
      ["timeout", "1_0"],
    ]);
    expect(gate?.docstring).toBe('One "line".');
    expect(gate?.token).toMatchObject({ line: 23, column: 11 });
    expect(imports.get("js")).toBe("json");
    expect([...modules]).toEqual(["__future__", "re", "json", "rnow.core"]);
  });

  it.each([
    ["def f(:\n  pass\n", 1, 6],
    ["x = (1,\ny = 2\n", 1, 5],
    ["x = ')\n", 1, 5],
    ["x = '''a\nb\n", 1, 5],
    ["def f():\nreturn 1\n", 1, 8],
    ["x = 1\n  y = 2\n", 2, 3],
    ["x = [1)\n", 1, 7],
    ["x = $y\n", 1, 5],
  ])("says where %j is no Python", (source, line, column) => {
    expect(parsePython(source).fault).toMatchObject({ line, column });
  });

  it("ends with any text at all", () => {
    for (let length = 0; length < HARD.length; length++) parsePython(HARD.slice(0, length));
    for (const text of [
      "\\",
      "'",
      '"""',
      "@",
      "f(",
      "\t\tx",
      "\0",
      "a\r\nb",
      "é = 'ü'",
      "0x",
      "1.e5j",
      "...",
      "#",
    ])
      expect(() => parsePython(text)).not.toThrow();
    const { statements } = parsePython("x = 1 if y else 2; z");
    expect(statements.map(({ tokens }) => sourceOf(tokens))).toEqual(["x=1 if y else 2", "z"]);
  });
});

describe("rewards.py", () => {
  it.each(REWARDS)("%s", (_, source, expected) => {
    expect(short(pythonRewards(source, "rewards.py").findings)).toEqual(expected);
  });

  it("says what there is: names, gates, containers, time limits, mathematics", () => {
    const source = `${IMPORT}from math_verify import parse
S = True
@reward(precondition=True, timeout=2.5)
def gate(args: RewardArgs, messages: list) -> float:
    return 1.0
@reward(sandbox=S)
def inside(args: RewardArgs, messages: list) -> float:
    return 0.0
class Other:
    @reward
    def not_one(self, args, messages): ...
def plain(): pass
`;
    const { items, findings, isMath } = pythonRewards(source, "rewards.py");
    expect(findings).toEqual([]);
    expect(isMath).toBe(true);
    expect(
      items.map(({ name, precondition, sandbox, timeoutS }) => [name, precondition, sandbox, timeoutS]),
    ).toEqual([
      ["gate", true, false, 2.5],
      ["inside", false, true, undefined],
    ]);
  });

  it("names the remedy", () => {
    const hints = REWARDS.flatMap(([, source]) =>
      pythonRewards(source, "r").findings.map(({ hint }) => hint),
    );
    expect(hints).toContain("Multiply the score inside; reward({ weight }) is for rewards.ts.");
    expect(hints).toContain("Add: from rnow.core import reward");
    expect(hints.every((hint) => hint.endsWith(".") || hint.startsWith("Add: "))).toBe(true);
  });
});

describe("tools.py", () => {
  it.each(TOOLS)("%s", (_, source, expected) => {
    expect(short(pythonTools(source, "tools.py").findings)).toEqual(expected);
  });
});

describe("rewards.py as people write it", () => {
  it.each([
    [
      "mathematics",
      `import re
from math_verify import LatexExtractionConfig, parse, verify

from rnow.core import RewardArgs, get_response, reward


@reward
async def accuracy(args: RewardArgs, messages: list) -> float:
    """1 if the last formula equals the expected answer."""
    gold = parse(args.metadata["expected_answer"])
    pred = parse(
        get_response(messages),
        extraction_config=[LatexExtractionConfig(boxed_match_priority=0)],
    )
    if not pred:
        return 0.0
    return 1.0 if verify(gold, pred) else 0.0


@reward(precondition=True)
def has_box(args: RewardArgs, messages: list) -> float:
    match: re.Match | None = re.search(r"\\\\boxed{(.*)}", get_response(messages))
    case = match
    return float(case is not None)
`,
    ],
    [
      "a judge, with CRLF",
      `from rnow.core import reward, RewardArgs, llm_judge
PROMPT = "one \\
line"
@reward(timeout=120)
async def judged(args: RewardArgs, messages: list) -> float:
    try:
        score = await llm_judge(f"Rate {messages[-1]['content']!r}", secrets=args.secrets)
    except TimeoutError as error:
        raise ValueError("late") from error
    else:
        return max(0.0, min(1.0, score))
`.replaceAll("\n", "\r\n"),
    ],
  ])("has nothing to be found: %s", (_, source) => {
    const { findings, items } = pythonRewards(source, "rewards.py");
    expect(findings).toEqual([]);
    expect(items.length).toBeGreaterThan(0);
  });
});
