/** What each key means, in a line: for the JSON Schema that editors read. Key paths as in findings. */
export const CONFIG_HELP: Readonly<Record<string, string>> = {
  project_id: "Groups the folder's runs; filled in with the first one.",
  project_name: "What runs are called.",
  description: "Kept as the note of each run.",
  organization_id: "Kept as a tag of each run.",
  dataset_type:
    "rl: rewards judge answers. sft: answers are learnt as they are. distill: a teacher grades each token. midtrain: texts are learnt whole.",
  data: "The rows, and how many of them a step takes.",
  "data.train_file": "A row a line, relative to the folder.",
  "data.batch_size": "Prompts (or rows) in one step. Times group_size at most 2048.",
  "data.group_size": "Answers to each prompt, compared with each other.",
  "data.val_split": "Share of rows that is held out and only measured (sft).",
  model: "What is trained.",
  "model.path":
    "A model of the catalogue, a folder, or what was trained here (a run, run@step, an endpoint). A list is a run for each.",
  "model.qlora_rank":
    "Rank of the LoRA adapter, on the engine's own precision; each model has a largest one.",
  "model.qlora_alpha": "Default: twice the rank.",
  "model.name": "What the last checkpoint is called.",
  "model.description": "For people.",
  teacher:
    "Of a distillation only: grades every token that the student writes. To give the reasoning of a large model to a smaller one, or to have a cheaper one that comes near it; the student learns from its own mistakes, as it does not from answers already written.",
  "teacher.path": "A larger model of the student's family: both must have one tokenizer.",
  "teacher.agentic": "Let the student call tools, over several turns.",
  algorithm: "How answers are learnt from. ppo with grpo works well for most tasks.",
  "algorithm.loss_fn": "ppo clips how far a step may go; importance_sampling does not.",
  "algorithm.adv_estimator":
    "grpo: better than the group's mean. reinforce: than the step's. gae: than a critic expects, token by token.",
  "algorithm.kl_penalty_coef":
    "Pull towards where training began (default 0.01), or towards the teacher (default 1). Lower, as 0.001, explores more; higher, as 0.1, is steadier.",
  rollout: "How answers are sampled.",
  "rollout.max_turns": "Answers of a conversation with tools at most.",
  "rollout.max_context_window": "Tokens of a whole conversation. Models that think need 8192 to 16384.",
  "rollout.termination_policy":
    "last_tool: over with an answer that calls no tool. max_turns: over after that many.",
  "rollout.reasoning_mode":
    "What it means depends on the model: effort, on or off. null: the model's default.",
  "rollout.mcp_url":
    "Servers of tools; localhost:PORT is inside the row's container. Keys as ${NAME} of .env.",
  "rollout.tool_timeout": "Seconds for one call.",
  "rollout.reward_timeout": "Seconds for one verdict.",
  "rollout.max_tool_response": "Tokens of a tool's answer at most. null: as much as there is room for.",
  "rollout.include_thinking": "Keep earlier turns' thinking in what the model and the rewards see.",
  "rollout.rollout_timeout": "Seconds for one conversation. null: an hour.",
  trainer: "For how long, and how fast.",
  "trainer.num_epochs": "How often all rows are learnt from.",
  "trainer.learning_rate": "Usual rates lie between 0.00001 and 0.001.",
  "trainer.save_step": "-1: at the end only. N: every N steps as well.",
  "trainer.max_billing": "Dollars at which the run saves and ends.",
  evals: "Measured while it trains, each in a container of its own.",
  "evals.eval_id": "An eval that exists.",
  "evals.step": "Every so many steps.",
  "evals.name": "In graphs. Default: the first 8 characters of its id.",
  "evals.pass1": "Default: as the eval has it.",
  "evals.pass4": "Default: as the eval has it.",
  "evals.pass8": "Default: as the eval has it.",
  "evals.pass1_temp": "Temperature of its samples.",
  "evals.pass4_temp": "Temperature of its samples.",
  "evals.pass8_temp": "Temperature of its samples.",
};
