import { commands, jsonLines, quoted, type Template, user } from "./template.ts";

const ANSWERS: [string, string][] = [
  ["river", "Water finds its way,\npatient over every stone,\nand is never late."],
  ["mountain", "It has seen us come.\nIt will see the last of us\nwalk down in the snow."],
  ["ocean", "Far out, a white sail.\nThe line between sea and sky\nhas been drawn by hand."],
  ["rain", "First drops on the roof.\nSomebody has remembered\nthe thirsty garden."],
  ["snow", "All night it has worked.\nThis morning the whole village\nhas only one roof."],
  ["wind", "The gate moves alone.\nNobody comes in, only\nthe smell of cut hay."],
  ["fire", "Sparks leave for the dark.\nOne by one the stars take up\nwhat they have let go."],
  ["forest", "A twig, then silence.\nWhoever lives here stands still\nand looks at me, too."],
];

const config = (title: string) => `project_name: ${quoted(title)}
dataset_type: sft

data:
  train_file: train.jsonl
  batch_size: 4
  val_split: 0.25 # a quarter of the rows is never learnt, only measured

model:
  path: spotter/nano # for real work a model such as Qwen/Qwen3-8B
  qlora_rank: 32

trainer:
  num_epochs: 20
  learning_rate: 0.0005
`;

/** Supervised fine-tuning. */
export const sft: Template = {
  description: "supervised fine-tuning: answers to be learnt as they are",
  files: (title) => ({
    "config.yml": config(title),
    "train.jsonl": jsonLines(
      ANSWERS.map(([topic, poem]) => ({
        messages: [user(`Write a haiku about ${topic}.`), { role: "assistant", content: poem }],
      })),
    ),
    "README.md": `# ${title}

Each row of train.jsonl is a question and the answer to learn. There are no rewards.

${commands()}`,
  }),
};
