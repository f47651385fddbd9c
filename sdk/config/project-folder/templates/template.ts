/** A project to begin with: what `spotter init` writes. */
export interface Template {
  /** One line for a list. */
  description: string;
  /** File name → text; `title` is what the project is called. */
  files: (title: string) => Record<string, string>;
}

/** Rows as train.jsonl. */
export function jsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

export function user(content: string): { role: "user"; content: string } {
  return { role: "user", content };
}

/** A title within double quotes of YAML; JSON's escapes are YAML's, too. */
export function quoted(title: string): string {
  return JSON.stringify(title);
}

/** A small reinforcement learning that runs on any machine: what of it differs is how a conversation goes. */
export function smallTraining(title: string, rollout: string): string {
  return `project_name: ${quoted(title)}
dataset_type: rl

data:
  train_file: train.jsonl
  batch_size: 4
  group_size: 4

model:
  path: spotter/nano # to see it run; Qwen/Qwen3-8B to see it learn
  qlora_rank: 32

rollout:
${rollout}

trainer:
  num_epochs: 3
  learning_rate: 0.0001
`;
}

/** What every README ends with. */
export function commands(extra = ""): string {
  return `\`\`\`
spotter validate            # check everything, offline
spotter run --dry-run       # what would run, and whence each value comes
spotter run --watch         # train, and follow it
\`\`\`
${extra}`;
}
