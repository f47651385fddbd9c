import { commands, jsonLines, smallTraining, type Template, user } from "./template.ts";

const ROLLOUT = `  max_turns: 3 # an answer that calls a tool is one turn, the next answer another
  max_context_window: 512
  termination_policy: last_tool
  reasoning_mode: disabled
  tool_timeout: 10`;

const TOOLS = `import { tool } from "spotter";

const STOCK: Record<string, number> = { apples: 12, pears: 7, plums: 31, figs: 4, limes: 19, dates: 58 };

export const stock = tool<{ item: string }>(
  {
    description: "How many of an item are in stock.",
    parameters: {
      type: "object",
      properties: { item: { type: "string", description: "its name, in the plural" } },
      required: ["item"],
    },
  },
  ({ item }) => ({ item, count: STOCK[item] ?? 0 }),
);

export const add = tool<{ a: number; b: number }>(
  {
    description: "Add two numbers.",
    parameters: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
  },
  ({ a, b }) => a + b,
);
`;

const REWARDS = `import { mathEqual, reward } from "spotter";

/** 1 if the number that is answered is the expected one. */
export const accuracy = reward(({ response, metadata }) =>
  mathEqual(String(metadata.expected_answer), response.content) ? 1 : 0,
);

/** Whether a tool was asked at all. */
export const asked = reward({ weight: 0.2 }, (_, messages) =>
  messages.some(({ role }) => role === "tool") ? 1 : 0,
);
`;

const STOCK = { apples: 12, pears: 7, plums: 31, figs: 4, limes: 19, dates: 58 };

function questions(): object[] {
  const items = Object.entries(STOCK);
  const single = items.map(([item, count]) => ({
    messages: [user(`How many ${item} are in stock?`)],
    rewards: ["accuracy", "asked"],
    tools: ["stock"],
    metadata: { expected_answer: String(count) },
  }));
  const pairs = items.map(([item, count], index) => {
    const [other, more] = items[(index + 1) % items.length] ?? [item, count];
    return {
      messages: [user(`How many ${item} and ${other} are in stock together?`)],
      rewards: ["accuracy", "asked"],
      metadata: { expected_answer: String(count + more) },
    };
  });
  return [...single, ...pairs];
}

/** Reinforcement learning over several turns with tools. */
export const tools: Template = {
  description: "reinforcement learning: questions that need tools, over several turns",
  files: (title) => ({
    "config.yml": smallTraining(title, ROLLOUT),
    "train.jsonl": jsonLines(questions()),
    "rewards.ts": REWARDS,
    "tools.ts": TOOLS,
    "README.md": `# ${title}

Questions about a stock that only the tools of tools.ts know. A row may name the tools it is given; without \`tools\` it
has all of them.

${commands()}`,
  }),
};
