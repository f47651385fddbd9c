import { commands, jsonLines, quoted, type Template, user } from "./template.ts";

const TOPICS = [
  "river",
  "mountain",
  "ocean",
  "rain",
  "snow",
  "wind",
  "fire",
  "forest",
  "desert",
  "island",
  "meadow",
  "valley",
  "thunder",
  "autumn",
  "winter",
  "summer",
  "spring",
  "harvest",
  "moonlight",
  "sunrise",
  "twilight",
  "midnight",
  "sparrow",
  "heron",
  "cricket",
  "firefly",
  "salmon",
  "willow",
  "maple",
  "lotus",
  "bamboo",
  "lantern",
];

const config = (title: string) => `project_name: ${quoted(title)}
dataset_type: rl

data:
  train_file: train.jsonl
  batch_size: 16 # prompts in one step, 1 to 32
  group_size: 8 # answers to each prompt, compared with each other

model:
  path: spotter/nano # comes with the package; for real work a model such as Qwen/Qwen3-4B-Instruct-2507
  qlora_rank: 32

rollout:
  max_context_window: 128 # a haiku is short

trainer:
  num_epochs: 10
  learning_rate: 0.001
`;

const REWARDS = `import { reward } from "spotter";

/** How close to three lines of about 20 characters each: 1 is perfect. */
export const shape = reward(({ response }) => {
  const lines = response.content.trim().split("\\n");
  if (lines.length !== 3) return 0;
  const off = lines.reduce((sum, line) => sum + Math.abs(line.length - 20), 0);
  return Math.max(0, 1 - off / 40);
});

/** Whether the poem names what it is about. */
export const topic = reward({ weight: 0.5 }, ({ response, metadata }) =>
  response.content.toLowerCase().includes(String(metadata.topic)) ? 1 : 0,
);
`;

/** Reinforcement learning with rewards that need no answer: the shape of a poem, and its topic. */
export const haiku: Template = {
  description: "reinforcement learning: poems of three lines that name their topic",
  files: (title) => ({
    "config.yml": config(title),
    "train.jsonl": jsonLines(
      TOPICS.map((topic) => ({
        messages: [user(`Write a haiku about ${topic}.`)],
        rewards: ["shape", "topic"],
        metadata: { topic },
      })),
    ),
    "rewards.ts": REWARDS,
    "README.md": `# ${title}

Teaches a small model to write poems of three lines that name their topic. It runs on this machine, without a GPU,
in a few minutes.

${commands()}
| File | What it holds |
| --- | --- |
| config.yml | the model, how many prompts and answers a step has, for how long to train |
| train.jsonl | a prompt a line, with the names of the rewards that judge its answers |
| rewards.ts | the rewards: numbers for answers, the higher the better |
`,
  }),
};
