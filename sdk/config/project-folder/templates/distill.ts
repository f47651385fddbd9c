import { commands, jsonLines, quoted, type Template, user } from "./template.ts";

const QUESTIONS = [
  "Why is the sky blue?",
  "Why do leaves change colour in autumn?",
  "How does a sail move a boat against the wind?",
  "Why does ice float?",
  "What makes bread rise?",
  "Why do we see lightning before we hear thunder?",
  "How does a lever help to lift a stone?",
  "Why is there a leap year?",
];

const config = (title: string) => `project_name: ${quoted(title)}
dataset_type: distill

data:
  train_file: train.jsonl
  batch_size: 8
  group_size: 4

model:
  path: Qwen/Qwen3-8B # the student

teacher:
  path: Qwen/Qwen3-32B # larger, of the same family: both must have one tokenizer

rollout:
  max_context_window: 8192

trainer:
  num_epochs: 3
  learning_rate: 0.0001
`;

/** On-policy distillation: the student writes, the teacher grades each token. */
export const distill: Template = {
  description: "distillation: a larger model grades every token that the smaller one writes",
  files: (title) => ({
    "config.yml": config(title),
    "train.jsonl": jsonLines(QUESTIONS.map((question) => ({ messages: [user(question)] }))),
    "README.md": `# ${title}

The student answers, the teacher grades each token of the answer: there are no rewards, and no answers to collect. On a
machine without a large GPU, try it with small models: \`spotter run --model spotter/nano --teacher spotter/nano\`.

${commands()}`,
  }),
};
