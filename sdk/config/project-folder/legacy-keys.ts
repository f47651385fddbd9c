/** Keys of older projects, and what became of them. `values` translates what was written there. */
export interface LegacyKey {
  /** Its successor's path, if it has one. */
  now?: string;
  hint: string;
}

export const LEGACY_KEYS: Readonly<Record<string, LegacyKey>> = {
  dataset_id: { hint: "Remove it: the rows are in data.train_file." },
  dataset_name: { hint: "Remove it; project_name names the project." },
  "rollout.max_tokens": {
    now: "rollout.max_context_window",
    hint: "Write rollout.max_context_window: it bounds the whole conversation in tokens, prompt included.",
  },
  "rollout.max_tool_response_chars": {
    now: "rollout.max_tool_response",
    hint: "Write rollout.max_tool_response, which counts tokens: about a quarter of the characters.",
  },
  "rollout.thinking_mode": {
    now: "rollout.reasoning_mode",
    hint: "Write rollout.reasoning_mode: disabled stays, easy is low, medium stays, hard is high.",
  },
  "trainer.eval_step": {
    now: "evals",
    hint: "Write a list `evals:` with an eval_id and a step each.",
  },
};

/** What people write for a key that has another name; edit distance does not find these. */
export const SYNONYMS: Readonly<Record<string, string>> = {
  lr: "trainer.learning_rate",
  learningrate: "trainer.learning_rate",
  epochs: "trainer.num_epochs",
  epoch: "trainer.num_epochs",
  savesteps: "trainer.save_step",
  saveevery: "trainer.save_step",
  maxcost: "trainer.max_billing",
  budget: "trainer.max_billing",
  rank: "model.qlora_rank",
  lorarank: "model.qlora_rank",
  r: "model.qlora_rank",
  alpha: "model.qlora_alpha",
  loraalpha: "model.qlora_alpha",
  modelname: "model.path",
  basemodel: "model.path",
  file: "data.train_file",
  dataset: "data.train_file",
  trainfile: "data.train_file",
  batch: "data.batch_size",
  numgenerations: "data.group_size",
  rollouts: "data.group_size",
  validationsplit: "data.val_split",
  kl: "algorithm.kl_penalty_coef",
  beta: "algorithm.kl_penalty_coef",
  klcoef: "algorithm.kl_penalty_coef",
  loss: "algorithm.loss_fn",
  advantage: "algorithm.adv_estimator",
  turns: "rollout.max_turns",
  maxlength: "rollout.max_context_window",
  maxseqlen: "rollout.max_context_window",
  contextwindow: "rollout.max_context_window",
  thinking: "rollout.reasoning_mode",
  timeout: "rollout.rollout_timeout",
  type: "dataset_type",
  name: "project_name",
  id: "project_id",
};
