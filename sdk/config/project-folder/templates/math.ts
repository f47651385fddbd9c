import { commands, jsonLines, quoted, type Template, user } from "./template.ts";

const config = (title: string) => `project_name: ${quoted(title)}
dataset_type: rl

data:
  train_file: train.jsonl
  batch_size: 8
  group_size: 8

model:
  path: spotter/nano # to see it run; Qwen/Qwen3-8B to see it learn
  qlora_rank: 32

algorithm:
  loss_fn: ppo
  adv_estimator: grpo
  kl_penalty_coef: 0.01

rollout:
  max_context_window: 256

trainer:
  num_epochs: 5
  learning_rate: 0.0001
`;

const REWARDS = `import { mathEqual, reward } from "spotter";

/** 1 if the answer is right, however it is written: 12, 12.0, \\boxed{12} or "so it is 12 apples". */
export const accuracy = reward(({ response, metadata }) =>
  mathEqual(String(metadata.expected_answer), response.content) ? 1 : 0,
);
`;

/** Word problems of one step, always the same ones. */
function problems(): object[] {
  return Array.from({ length: 40 }, (_, index) => {
    const [a, b] = [((index * 7) % 19) + 2, ((index * 5) % 13) + 1];
    const [question, answer] = [
      [`Ana has ${a} apples and buys ${b} more. How many apples does she have?`, a + b],
      [`A bus has ${a + b} passengers and ${b} get off. How many are left?`, a],
      [`A box holds ${a} pens. How many pens are in ${b} boxes?`, a * b],
      [`${a * b} sweets are shared among ${b} children. How many does each get?`, a],
    ][index % 4] as [string, number];
    return {
      messages: [user(`${question} End with the number.`)],
      rewards: ["accuracy"],
      metadata: { expected_answer: String(answer) },
    };
  });
}

/** Reinforcement learning with one right answer. */
export const math: Template = {
  description: "reinforcement learning: word problems with one right number",
  files: (title) => ({
    "config.yml": config(title),
    "train.jsonl": jsonLines(problems()),
    "rewards.ts": REWARDS,
    "README.md": `# ${title}

Word problems with one right number, which stands in \`metadata.expected_answer\` of each row and never in the prompt.

${commands()}`,
  }),
};
