import { describe, expect, it } from "vitest";
import { readPython } from "../../../../sdk/config/project-folder/python/functions.ts";
import { parsePython, sourceOf } from "../../../../sdk/config/project-folder/python/statements.ts";
import { pythonRewards } from "../../../../sdk/config/project-folder/python/rewards.ts";
import { pythonTools } from "../../../../sdk/config/project-folder/python/tools.ts";
import { short } from "./check.ts";

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

const IMPORT = "from rnow.core import reward, RewardArgs, llm_judge\n";
const reward = (
  body: string,
  head = "def r(args: RewardArgs, messages: list) -> float:",
  decorator = "@reward",
) =>
  `${IMPORT}${decorator}\n${head}\n${body
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n")}\n`;
const signature = (head: string) => reward("return 1.0", head);

/** `[what, rewards.py, findings]`; the numbers are those of the project's list of cases. */
const REWARDS: [string, string, string[]][] = [
  ["a reward", reward("return 1.0"), []],
  [
    "an async one",
    reward("return await llm_judge('x')", "async def r(args: RewardArgs, messages: list[dict]) -> float:"),
    [],
  ],
  ["21: one parameter", signature("def r(args: RewardArgs) -> float:"), ["reward_signature 3:5 r"]],
  [
    "21: three parameters",
    signature("def r(args: RewardArgs, messages: list, x: int) -> float:"),
    ["reward_signature 3:5 r"],
  ],
  [
    "21: no types",
    signature("def r(args, messages) -> float:"),
    ["reward_signature 3:7 r", "reward_signature 3:13 r"],
  ],
  ["21: no return type", signature("def r(args: RewardArgs, messages: list):"), ["reward_signature 3:5 r"]],
  ["21: return 10", reward("return 10"), ["reward_body 4:12 r"]],
  ["21: return -1", reward("return -1"), ["reward_body 4:12 r"]],
  ["21: a ternary of 5", reward("return 5 if messages else 0"), ["reward_body 4:12 r"]],
  [
    "21: the last of two ternaries",
    reward("return 1 if messages else 0.5 if args else 7"),
    ["reward_body 4:48 r"],
  ],
  [
    "31: a nested helper returns 100",
    reward("def helper():\n    return 100\nreturn 1 if helper() > 5 else 0"),
    [],
  ],
  [
    "32: @rc.reward",
    `import rnow.core as rc\n@rc.reward\ndef r(args: rc.RewardArgs, messages: list) -> float:\n    return 1.0\n`,
    [],
  ],
  [
    "32: reward as r",
    `from rnow.core import reward as r, RewardArgs\n@r\ndef s(args: RewardArgs, messages: list) -> float:\n    return 1.0\n`,
    [],
  ],
  ["51: pass", reward("pass"), ["reward_body 3:5 r"]],
  ["51: only a docstring", reward('"""Nothing."""'), ["reward_body 3:5 r"]],
  ["51: a way without return", reward("if messages:\n    return 1.0"), ["reward_body 3:5 r"]],
  [
    "51: if and else both return",
    reward("if messages:\n    return 1.0\nelif args:\n    return 0.5\nelse:\n    return 0.0"),
    [],
  ],
  ["51: try and except both return", reward("try:\n    return 1.0\nexcept ValueError:\n    return 0.0"), []],
  [
    "51: an except that goes on",
    reward("try:\n    return 1.0\nexcept ValueError:\n    print(1)"),
    ["reward_body 3:5 r"],
  ],
  ["51: a loop without end", reward("while True:\n    if messages:\n        return 1.0"), []],
  ["51: with", reward("with open('x') as f:\n    return 1.0"), []],
  [
    "51: match with a rest",
    reward("match messages:\n    case []:\n        return 0.0\n    case _:\n        return 1.0"),
    [],
  ],
  ["51: a judge without await", reward("return llm_judge('x')"), ["reward_body 3:5 r"]],
  ["51: await in a plain function", reward("return await llm_judge('x')"), ["reward_body 3:5 r"]],
  ["51: -> int", signature("def r(args: RewardArgs, messages: list) -> int:"), ["reward_signature 3:5 r"]],
  ["51: args: dict", signature("def r(args: dict, messages: list) -> float:"), ["reward_signature 3:7 r"]],
  [
    "51: the other way round",
    signature("def r(messages: list, args: RewardArgs) -> float:"),
    ["reward_signature 3:7 r"],
  ],
  [
    "51: no import",
    `from rnow.core import RewardArgs\n@reward\ndef r(args: RewardArgs, messages: list) -> float:\n    return 1.0\n`,
    ["code_import 2:2 reward"],
  ],
  [
    "51: import *",
    `from rnow.core import *\n@reward\ndef r(args: RewardArgs, messages: list) -> float:\n    return 1.0\n`,
    [],
  ],
  [
    "51: two of one name",
    `${reward("return 1.0")}${reward("return 0.0").replace(IMPORT, "")}`,
    ["code_twice 6:5 r"],
  ],
  ["51: weight=", reward("return 1.0", undefined, "@reward(weight=2)"), ["code_option 2:9 r"]],
  ["51: timeout 0", reward("return 1.0", undefined, "@reward(timeout=0)"), ["code_option 2:9 r"]],
  ["51: timeout -5", reward("return 1.0", undefined, "@reward(timeout=-5)"), ["code_option 2:9 r"]],
  [
    "an option that only runs tell",
    reward("return 1.0", undefined, "@reward(sandbox=find())"),
    ["W code_unclear 2:9 r"],
  ],
  [
    "older parameters",
    signature("def r(args: RewardArgs, sample: dict) -> float:"),
    ["reward_signature 3:25 r"],
  ],
  ["None", reward("return None"), ["W reward_body 4:12 r"]],
  ["a text", reward("return 'good'"), ["reward_body 4:12 r"]],
  ["types as texts", signature("def r(args: 'RewardArgs', messages: 'List[dict]') -> 'float':"), []],
  ["no Python", "def r(:\n", ["code_syntax 1:6"]],
];

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

const tool = (head: string, body = '"""Looks it up."""\n    return {}', decorator = "@tool") =>
  `from rnow.core.tool import tool\nfrom rnow.models import ToolArgs\n${decorator}\n${head}\n    ${body}\n`;

const TOOLS: [string, string, string[]][] = [
  ["a tool", tool("def t(query: str, args: ToolArgs, n: int | None = None) -> dict:"), []],
  ["an async one", tool("async def t(query: 'str') -> str | None:"), []],
  ["22: no docstring", tool("def t(query: str) -> dict:", "return {}"), ["tool_signature 4:5 t"]],
  ["22: *args", tool("def t(*queries: str) -> dict:"), ["tool_signature 4:8 t"]],
  ["22: **kwargs", tool("def t(**options) -> dict:"), ["tool_signature 4:9 t"]],
  ["22: no type", tool("def t(query) -> dict:"), ["tool_signature 4:7 t"]],
  ["22: no return type", tool("def t(query: str):"), ["tool_signature 4:5 t"]],
  ["52: -> bytes", tool("def t(query: str) -> bytes:"), ["tool_signature 4:5 t"]],
  ["52: ToolArgs of another name", tool("def t(context: ToolArgs) -> dict:"), ["tool_signature 4:7 t"]],
  ["52: int | None", tool("def t(n: int | None) -> dict:"), []],
  [
    "52: a list that is said to be a dict",
    tool("def t(q: str) -> dict:", '"""x"""\n    return [q]'),
    ["W tool_signature 6:12 t"],
  ],
  [
    "an unknown option",
    tool("def t(q: str) -> dict:", undefined, "@tool(sandbx=True)"),
    ["code_option 3:7 t"],
  ],
  ["no import", tool("def t(q: str) -> dict:").replace(/^.*\n/, ""), ["code_import 2:2 tool"]],
];

describe("tools.py", () => {
  it.each(TOOLS)("%s", (_, source, expected) => {
    expect(short(pythonTools(source, "tools.py").findings)).toEqual(expected);
  });
});
