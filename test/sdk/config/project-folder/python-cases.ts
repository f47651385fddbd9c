export const IMPORT = "from rnow.core import reward, RewardArgs, llm_judge\n";
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
export const REWARDS: [string, string, string[]][] = [
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

const tool = (head: string, body = '"""Looks it up."""\n    return {}', decorator = "@tool") =>
  `from rnow.core.tool import tool\nfrom rnow.models import ToolArgs\n${decorator}\n${head}\n    ${body}\n`;

export const TOOLS: [string, string, string[]][] = [
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
