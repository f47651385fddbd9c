import type { RowContext } from "../../../../sdk/config/project-folder/row-context.ts";
import { ASK, row } from "./rows.ts";

type Case = [string, string, Partial<RowContext>?];

const json = (change: object) => JSON.stringify(row(change));
const said = (content: unknown) => json({ messages: [{ role: "user", content }] });
const talk = [
  { role: "system", content: "Be short." },
  ASK,
  { role: "assistant", content: "4" },
  { role: "user", content: 'And\n"3" + 3, in $?' },
];
/** As Python writes it: with spaces, and letters as escapes. */
const PYTHON = String.raw`{"messages": [{"role": "user", "content": "L\u00f6s \ud83d\ude00 das:\n\n\"2 + 2\"\t\\ /", "name": "a"}], "rewards": ["accuracy"], "tools": ["search"], "metadata": {"expected_answer": "4", "n": [-1.5e+3, 0, true, false, null, {"a": [], "b": {}}], "deep": {"x": [[1], {"y": "z"}]}}}`;
const LONG = "a".repeat(60);
const SHORTER: Partial<RowContext> = { rewards: new Map([["b".repeat(58), { sandbox: false }]]) };
const NEEDS: Partial<RowContext> = {
  rewards: new Map([
    ["accuracy", { sandbox: false, needs: ["gold", "é"] }],
    ["brevity", { sandbox: false }],
    ["other", { sandbox: false, needs: ["gold"] }],
  ]),
};
const SANDBOX: Partial<RowContext> = {
  tools: new Map([
    ["search", { sandbox: false }],
    ["run", { sandbox: true }],
  ]),
};
const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

export const PLAIN: Case[] = [
  ["a row", json({})],
  ["a conversation", json({ messages: talk })],
  ["a row as Python writes it", PYTHON],
  ["spaces and tabs anywhere", PYTHON.replaceAll(/(?<=[:,[{])(?=["[{])/g, " \t ") + " \r"],
  ["letters outside of ASCII", said("Größe? 😀 \u2028")],
  ["an amount of money", said("It costs $5, or 5 $.")],
  ["a row without tools", json({ tools: [] })],
  ["metadata without keys", json({ metadata: {} })],
  ["a long number in a text", json({ metadata: { id: "9007199254740993" } }), { hasTypeScript: true }],
  ["a fraction of many digits", json({ metadata: { x: 0.12345678901234568 } }), { hasTypeScript: true }],
  ["a text beside messages", json({ text: [] })],
  ["lists within each other", json({}).replace(/}$/, `,"metadata":{"a":${nested(61)}}}`)],
  ["an answer that is learnt", JSON.stringify({ messages: talk.slice(0, 3) }), { kind: "sft" }],
  ["distill without rewards", JSON.stringify({ messages: talk }), { kind: "distill" }],
  ["a text that is learnt", '{"text":"a"}', { kind: "midtrain" }],
  ["a text beside a conversation", json({ text: "a" }), { kind: "midtrain" }],
  ["a name of fewer letters", json({ rewards: ["b".repeat(58)] }), SHORTER],
  ["what a reward needs", json({ metadata: { é: 1, gold: null } }), NEEDS],
  ["a reward that needs nothing", json({ rewards: ["brevity"] }), NEEDS],
  ["tools of which none needs a container", json({ tools: ["search"] }), SANDBOX],
  ["LaTeX where nothing is compared as mathematics", json({ metadata: { expected_answer: "\\frac" } })],
];

/** Most of them are fine as well: they are checked the long way. */
export const NOT_PLAIN: Case[] = [
  ["a variable", said("About $topic.")],
  ["a variable in braces", said("About ${topic}.")],
  ["a variable that begins with a line", said("About $_topic.")],
  ["an escaped dollar sign", said("@topic").replace("@", "\\u0024")],
  ["an escaped letter behind a dollar sign", said("$@opic").replace("@", "\\u0074")],
  ["variables", json({ variables: {} })],
  ["a container", json({ docker: "python:3.11" })],
  ["an image", said([{ type: "image", image: "data:image/png;base64,AA==" }])],
  ["a call", json({ messages: [ASK, { role: "assistant", content: "", tool_calls: [] }, ASK] })],
  ["a tool's result", json({ messages: [ASK, { role: "tool", content: "", tool_call_id: "1" }] })],
  ["a row of several rewards of which one is unknown", json({ rewards: ["accuracy", "nope"] })],
  ["a reward that needs a container", json({ rewards: ["inside"] })],
  ["a reward named by the beginning of its name", json({ rewards: ["accurac"] })],
  ["a number that may be inexact", json({}).replace(/}$/, ',"metadata":{"a":9007199254740993}}')],
  ["lists deep within each other", json({}).replace(/}$/, `,"metadata":{"a":${nested(62)}}}`)],
  ["a key twice", json({}).replace(/}$/, ',"messages":[]}')],
  ["a role twice", json({}).replace('"role"', '"role":"bot","role"')],
  ["a key with an escape", json({}).replace("messages", "m\\u0065ssages")],
  ["a message's key with an escape", json({}).replace('"role"', '"content":"a","r\\u006fle":5,"role"')],
  ["nobody who asks", json({ messages: talk.slice(0, 1) })],
  ["the system's word in the middle", json({ messages: [ASK, talk[0], ASK] })],
  ["no rewards", json({ rewards: [] })],
  ["a reward twice", json({ rewards: ["accuracy", "accuracy"] })],
  ["a name of many letters", json({ rewards: [LONG] }), { rewards: new Map([[LONG, { sandbox: false }]]) }],
  ["an answer that is null", json({ metadata: { expected_answer: null } })],
  ["LaTeX", json({ metadata: { expected_answer: "\\sqrt{2}" } }), { isMath: true }],
  ["a long row", said("a".repeat(400)), { window: 100 }],
  ["no answer to learn", JSON.stringify({ messages: [ASK] }), { kind: "sft" }],
  ["an answer to nothing", JSON.stringify({ messages: [talk[2], ASK] }), { kind: "sft" }],
  ["an answer at the end", json({ messages: talk.slice(0, 3) })],
  ["a text without a letter", '{"text":""}', { kind: "midtrain" }],
  ["one of two things that a reward needs", json({ metadata: { gold: 1 } }), NEEDS],
  ["all tools, one of which needs a container", json({}), SANDBOX],
  ["a tool that needs a container", json({ tools: ["run"] }), SANDBOX],
  ["a name with a quote", json({ rewards: ['a"b'] }), { rewards: new Map([['a"b', { sandbox: false }]]) }],
  ["half of an escape", json({}).replace("What", "\\u00g0")],
  ["a control character", json({}).replace("What", "\u0001")],
  ["a comma too many", json({}).replace("]}", "],}")],
  ["a number with a zero before it", json({}).replace(/}$/, ',"metadata":{"a":01}}')],
  ["what Python writes for no number", json({}).replace(/}$/, ',"metadata":{"a":NaN}}')],
];

export const CONTEXTS: [string, Partial<RowContext>][] = [
  ["rl", { hasTypeScript: true }],
  ["rl of Python, as mathematics", { isMath: true, rewards: NEEDS.rewards }],
  ["a window of few tokens, tools that need a container", { ...SANDBOX, window: 32 }],
  ["sft", { kind: "sft" }],
  ["distill", { kind: "distill", rewards: undefined, tools: undefined }],
  ["midtrain", { kind: "midtrain" }],
];

/** Rows that are changed in all places, of all kinds. */
export const BASES: string[] = [
  PYTHON,
  json({ messages: talk, metadata: { expected_answer: "7", gold: 1, é: { a: [1, "2"] } }, id: 1 }),
  JSON.stringify({ text: "a\\b$", messages: talk.slice(0, 3), tools: ["search"] }),
  '{"text": "Ein Satz.", "n": 1}',
];

/** What is put in place of bytes; as Latin-1, so that some of it is no UTF-8. */
export const WORDS: string[] = [
  ...[
    '"',
    "\\",
    "$",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\t",
    "\r",
    "\n",
    "\0",
    "\x1f",
    "\x7f",
    "0",
    "1",
    "9",
  ],
  ...[
    "-",
    ".",
    "e",
    "E",
    "a",
    "u",
    "_",
    "\\u0024",
    "\\ud800",
    "\\u12",
    "\\x",
    "null",
    "true",
    "NaN",
    "Infinity",
  ],
  ...[
    "1234567890123456",
    "9007199254740993",
    "-0",
    "01",
    "1.",
    "\xc3\xa9",
    "\xff",
    "\xed\xa0\x80",
    "\xef\xbb\xbf",
  ],
  ...[
    '"role":"bot",',
    '"content":"$abc",',
    '"messages":[],',
    '"rewards":["nope"],',
    '"docker":"x",',
    "\\n",
    "$_ab",
  ],
  ...['"tools":["run"],', '"expected_answer":null,', '"metadata":{},', '"text":"",', '"__proto__":{"a":1},'],
];
