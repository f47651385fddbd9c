import type { RowContext } from "../../../../sdk/config/project-folder/row-context.ts";
import { ASK, row } from "./rows.ts";

const CALL = { id: "1", type: "function", function: { name: "search", arguments: "{}" } };
const SPOKEN = { role: "assistant", content: "4" };
const image = (uri: string) => ({ role: "user", content: [{ type: "image", image: uri }] });
const PNG = image("data:image/png;base64,iVBORw0KGgo=");

/** `[what, row, findings without their column, context]`; the numbers are those of the project's list of cases. */
export const ROWS: [string, unknown, string[], Partial<RowContext>?][] = [
  ["a plain row", row({}), []],
  ["12: no rewards", { messages: [ASK] }, ["row_reward_missing rewards"]],
  ["12: rewards []", row({ rewards: [] }), ["row_invalid rewards"]],
  ["12: rewards as a text", row({ rewards: "accuracy" }), ["row_invalid rewards"]],
  ["13: messages []", row({ messages: [] }), ["row_invalid messages"]],
  ["13: no messages", { rewards: ["accuracy"] }, ["row_invalid messages"]],
  [
    "13: role developer",
    row({ messages: [{ role: "developer", content: "x" }] }),
    ["row_invalid messages.0.role"],
  ],
  [
    "13: role function",
    row({ messages: [ASK, { role: "function", content: "x" }] }),
    ["row_invalid messages.1.role"],
  ],
  ["13: no content", row({ messages: [{ role: "user" }] }), ["row_invalid messages.0.content"]],
  [
    "13: content an object",
    row({ messages: [{ role: "user", content: {} }] }),
    ["row_invalid messages.0.content"],
  ],
  ["15: docker_env alone", row({ docker_env: { A: "1" } }), ["docker_missing docker_env"]],
  ["15: docker_env empty", row({ docker_env: {} }), []],
  ["15: a number in docker_env", row({ docker: "x", docker_env: { A: 1 } }), ["row_invalid docker_env.A"]],
  ["16: an unknown reward", row({ rewards: ["acuracy"] }), ["reward_unknown rewards.0"]],
  ["20: midtrain without text", { messages: [ASK] }, ["row_invalid text"], { kind: "midtrain" }],
  ["20: midtrain with an empty text", { text: "" }, ["row_invalid text"], { kind: "midtrain" }],
  ["20: midtrain with a text", { text: "a" }, [], { kind: "midtrain" }],
  [
    "27: null beside calls of tools",
    row({
      messages: [
        ASK,
        { role: "assistant", content: null, tool_calls: [CALL] },
        { role: "tool", tool_call_id: "1", content: "x" },
        ASK,
      ],
    }),
    [],
  ],
  [
    "27: null alone",
    row({ messages: [{ role: "user", content: null }] }),
    ["row_invalid messages.0.content"],
  ],
  ["30: an image for a vision model", row({ messages: [PNG] }), []],
  [
    "30: an image is no text",
    row({ messages: [image(`data:image/png;base64,${"A".repeat(66_000)}`)] }),
    [],
    { window: 100 },
  ],
  ["41: an unknown tool", row({ tools: ["serch"] }), ["tool_unknown tools.0"]],
  ["41: no tools file", row({ tools: ["search"] }), ["tool_unknown tools.0"], { tools: new Map() }],
  ["41: tools that cannot be read", row({ tools: ["any"] }), [], { tools: undefined }],
  [
    "41: a tool that a server may bring",
    row({ tools: ["browse"] }),
    ["W tool_unknown tools.0"],
    { hasMcp: true },
  ],
  ["42: a sandbox reward without docker", row({ rewards: ["inside"] }), ["docker_missing rewards.0"]],
  ["42: a sandbox reward with docker", row({ rewards: ["inside"], docker: "python:3.11" }), []],
  [
    "42: a sandbox tool, all of them",
    row({}),
    ["docker_missing tools"],
    { tools: new Map([["run", { sandbox: true }]]) },
  ],
  [
    "42: a sandbox tool, filtered out",
    row({ tools: [] }),
    [],
    { tools: new Map([["run", { sandbox: true }]]) },
  ],
  [
    "42: tools null means all",
    row({ tools: null }),
    ["docker_missing tools"],
    { tools: new Map([["run", { sandbox: true }]]) },
  ],
  ["43: no Dockerfile", row({ docker: "local/kernal" }), ["dockerfile_missing docker"]],
  ["43: a Dockerfile", row({ docker: "local/kernel" }), []],
  ["43: docker empty", row({ docker: "" }), ["row_invalid docker"]],
  ["43: a server inside, no docker", row({}), ["docker_missing docker"], { isMcpInSandbox: true }],
  [
    "45: no tool_call_id",
    row({ messages: [ASK, { role: "tool", content: "x" }] }),
    ["row_tool_turn messages.1"],
  ],
  [
    "45: an unmatched one",
    row({ messages: [ASK, { role: "tool", tool_call_id: "9", content: "x" }] }),
    ["row_tool_turn messages.1.tool_call_id"],
  ],
  [
    "45: arguments as an object",
    row({
      messages: [
        ASK,
        {
          role: "assistant",
          content: "",
          tool_calls: [{ ...CALL, function: { name: "search", arguments: {} } }],
        },
        ASK,
      ],
    }),
    ["W row_tool_turn messages.1.tool_calls.0.function.arguments"],
  ],
  ["45: content []", row({ messages: [{ role: "user", content: [] }] }), ["row_invalid messages.0.content"]],
  [
    "45: content [1, 2]",
    row({ messages: [{ role: "user", content: [1, 2] }] }),
    ["row_invalid messages.0.content.0", "row_invalid messages.0.content.1"],
  ],
  [
    "45: an unknown part",
    row({ messages: [{ role: "user", content: [{ type: "audio" }] }] }),
    ["row_invalid messages.0.content.0"],
  ],
  [
    "46: an image for a text model",
    row({ messages: [PNG] }),
    ["row_image messages.0.content.0"],
    { blindModels: ["Qwen/Qwen3-8B"] },
  ],
  ["46: the path of an image", row({ messages: [image("cat.png")] }), ["row_image messages.0.content.0"]],
  ["48: a reward twice", row({ rewards: ["accuracy", "accuracy"] }), ["row_reward_twice rewards.1"]],
  [
    "49: $topic without a variable",
    row({ messages: [{ role: "user", content: "Write about $topic." }] }),
    ["W variable_unknown messages.0.content"],
  ],
  [
    "49: a key of metadata",
    row({ messages: [{ role: "user", content: "It is ${gold}." }], metadata: { gold: 4 } }),
    ["W variable_unknown messages.0.content"],
  ],
  [
    "49: a variable",
    row({
      messages: [{ role: "user", content: "About $topic, ${style}." }],
      variables: { topic: "a", style: "b" },
    }),
    [],
  ],
  ["49: a variable nobody uses", row({ variables: { topic: "a" } }), ["W variable_unused variables.topic"]],
  [
    "49: mathematics",
    row({ messages: [{ role: "user", content: "Let $EF$ and $BCD$ cost $5; $abc$." }] }),
    [],
  ],
  [
    "63: a long row",
    { messages: [ASK, { ...SPOKEN, content: "word ".repeat(30_000) }] },
    ["W row_long messages"],
    { kind: "sft" },
  ],
  [
    "the system's word in the middle",
    row({ messages: [ASK, { role: "system", content: "x" }, ASK] }),
    ["row_order messages.1.role"],
  ],
  ["nobody asks", row({ messages: [{ role: "system", content: "x" }] }), ["row_order messages"]],
  ["sft without an answer", { messages: [ASK] }, ["row_order messages"], { kind: "sft" }],
  ["sft with an answer", { messages: [ASK, SPOKEN] }, [], { kind: "sft" }],
  ["rl with an answer at the end", row({ messages: [ASK, SPOKEN] }), ["W row_order messages.1.role"]],
  ["distill needs no rewards", { messages: [ASK] }, [], { kind: "distill" }],
  ["a slip of the pen", row({ metdata: {} }), ["W row_key_unknown metdata"]],
  ["keys of one's own", row({ id: 7, source: "x" }), []],
  ["an older key", row({ docker_cmd: ["x"] }), ["W legacy_key docker_cmd"]],
  ["metadata as a list", row({ metadata: [] }), ["row_invalid metadata"]],
  ["a row that is a list", [1], ["row_invalid"]],
  ["a row that is null", null, ["row_invalid"]],
  [
    "an answer that is null",
    row({ metadata: { expected_answer: null } }),
    ["W answer_missing metadata.expected_answer"],
  ],
  [
    "raw LaTeX",
    row({ metadata: { expected_answer: "\\sqrt{2}" } }),
    ["W answer_undelimited metadata.expected_answer"],
    { isMath: true },
  ],
  ["LaTeX in dollars", row({ metadata: { expected_answer: "$\\sqrt{2}$" } }), [], { isMath: true }],
  ["a plain number", row({ metadata: { expected_answer: "42" } }), [], { isMath: true }],
];
