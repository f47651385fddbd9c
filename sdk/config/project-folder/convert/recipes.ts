import type { Row } from "../../../dataset-rows.ts";
import type { SpotterError } from "../../../schema/errors.ts";
import { isObject } from "../row-context.ts";
import { gsm8kAnswer, mathAnswer } from "./answers.ts";

/** A row as a recipe reads it; what it lacks throws. */
export interface SourceRow {
  row: Row;
  /** Of the input column: as a text, or as it is. */
  text: () => string;
  value: () => unknown;
  /** The same of the output column. */
  answerText: () => string;
  answer: () => unknown;
  /** What is wrong with the input column of this row. */
  refuse: (message: string) => SpotterError;
}

/** How rows of a common form become rows of train.jsonl. */
export interface Recipe {
  /** One line for a list. */
  description: string;
  /** The columns that it reads where nobody says otherwise. */
  input: string;
  output: string;
  convert: (source: SourceRow) => Row;
}

const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });

/** What is asked, and what is right: the model finds the way there while it trains. */
function asked(question: string, expected: unknown): Row {
  return { messages: [user(question)], rewards: ["accuracy"], metadata: { expected_answer: expected } };
}

/** What `spotter dataset convert --to` takes. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  sft: {
    description: "question and answer, both learnt from",
    input: "question",
    output: "answer",
    convert: ({ text, answerText }) => ({ messages: [user(text()), assistant(answerText())] }),
  },
  alpaca: {
    description: "instruction, perhaps an input, and output",
    input: "instruction",
    output: "output",
    convert({ row, text, answerText }) {
      const { input } = row;
      const more = typeof input === "string" && input !== "" ? `\n\nInput: ${input}` : "";
      return { messages: [user(`${text()}${more}`), assistant(answerText())] };
    },
  },
  conversations: {
    description: "a list of turns, each with from (human, gpt, system) and value",
    input: "conversations",
    output: "conversations",
    convert({ value, refuse }) {
      const turns = value();
      if (!Array.isArray(turns) || turns.length === 0) throw refuse("is no list of turns");
      return { messages: turns.map((turn: unknown, index) => said(turn, index, refuse)) };
    },
  },
  rl: {
    description: "question, and the answer as what the reward accuracy expects",
    input: "question",
    output: "answer",
    convert: ({ text, answer }) => asked(text(), answer()),
  },
  gsm8k: {
    description: "the same, of the answer what stands behind ####",
    input: "question",
    output: "answer",
    convert: ({ text, answerText }) => asked(text(), gsm8kAnswer(answerText())),
  },
  math: {
    description: "problem, and of the solution what stands in \\boxed{}",
    input: "problem",
    output: "solution",
    convert: ({ text, answerText }) => asked(text(), mathAnswer(answerText())),
  },
};

const ROLES: Readonly<Record<string, string>> = { human: "user", user: "user", system: "system" };

function said(turn: unknown, index: number, refuse: SourceRow["refuse"]): { role: string; content: string } {
  if (!isObject(turn) || typeof turn.from !== "string" || typeof turn.value !== "string")
    throw refuse(`has a turn ${index} without from and value`);
  const role = Object.hasOwn(ROLES, turn.from) ? ROLES[turn.from] : undefined;
  return { role: role ?? "assistant", content: turn.value };
}
