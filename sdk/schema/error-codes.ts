/**
 * Every error code Spotter can give, with its kind. The kind decides the exit code of the CLI (user → 2,
 * everything else → 1) and the HTTP status; `docs/errors.md` explains each one, and a test compares the two.
 */
export const ERROR_CODES = {
  // What the user wrote
  invalid_input: "user", // a body, option or file that does not fit its schema; message lists every finding
  unknown_key: "user", // a key nobody reads, with the nearest name
  not_found: "user", // no such record
  conflict: "user", // the name exists with another identity
  model_not_found: "user", // the model name, folder or file does not lead to a model
  model_unsupported: "user", // a model the embedded engine cannot run
  model_corrupt: "user", // config, weights or tokenizer are damaged
  checkpoint_not_found: "user",
  checkpoint_mismatch: "user", // the checkpoint belongs to another base model, adapter or rank
  weights_missing: "user", // the checkpoint has its trainer's state, and no Hugging Face weights yet
  tokenizer_mismatch: "user", // teacher and student read texts as other tokens
  teacher_failed: "user", // a teacher refuses, or gives no log-probabilities
  dataset_empty: "user",
  dataset_invalid: "user", // a row that cannot be used, with file and line
  dataset_not_found: "user", // no such repository, revision, config or split on the hub
  datasets_overlap: "user", // rows to train on are among those to evaluate on
  hub_gated: "user", // the hub wants a login, or its terms accepted
  user_code_invalid: "user", // does not bundle, or does not export what is needed
  reward_missing: "user", // no reward is exported
  reward_failed: "user", // a reward threw
  reward_invalid: "user", // a reward returned something that is not a score
  reward_timeout: "user",
  rollout_timeout: "user", // conversations of a training were not over in time
  tool_missing: "user", // no tool is exported
  tool_failed: "user", // a tool threw
  tool_invalid: "user", // a tool returned something that is not JSON, or far too much
  tool_timeout: "user",
  environment_missing: "user", // no environment is exported
  environment_failed: "user", // load, setup or step threw
  environment_invalid: "user", // load, setup or step returned something else than documented
  environment_timeout: "user",
  zero_work: "user", // a run with nothing to do
  unauthorized: "user",
  forbidden: "user",
  payload_too_large: "user",
  route_unsupported: "user", // the route exists, but not for this engine or not here
  method_not_allowed: "user", // the route exists, but not for this verb
  cloud_quota_exceeded: "user", // the account may not have such instances, or no more of them
  image_unavailable: "user", // the image of a container is not there, or may not be pulled
  memory_exceeded: "user", // a container needs more memory than its hardware has
  takes_days: "user", // a run would take more than a day here
  budget_exceeded: "user", // a run cost as much as it may; its checkpoints are kept
  quota_exhausted: "user", // the key's tokens of this month are used up
  port_busy: "user", // the daemon's port belongs to another program
  state_locked: "user", // another daemon owns the state folder
  state_unreadable: "user", // the state folder is read-only or damaged
  state_too_new: "user", // written by a newer version
  node_too_old: "user",
  package_missing: "user", // an optional package is not installed
  engine_missing: "user", // this home cannot start the engine that is asked for
  docker_missing: "user", // no Docker that this user can start containers with
  gpu_missing: "user", // Docker here gives its containers no GPU
  python_missing: "user", // there is Python to run, and no python3
  python_not_allowed: "user", // there is Python to run, and nobody allowed it
  aws_config_invalid: "user", // variables that a function on AWS needs are missing or wrong
  context_length_exceeded: "user",
  grammar_too_complex: "user", // a schema or choice that leaves too many ways to go on at once
  chat_template_failed: "user", // the chat template of the model does not take these messages
  // Capacity: the same call may work later
  capacity: "capacity",
  no_capacity: "capacity", // the platform has no instance of this hardware
  preempted: "capacity", // the platform took a spot container back
  queue_full: "capacity",
  rate_limited: "capacity", // the key's requests or tokens of this minute are used up
  endpoint_not_ready: "capacity",
  disk_full: "capacity",
  aws_throttled: "capacity", // AWS answered "slow down" for longer than we repeated
  hub_rate_limited: "capacity", // the hub answered 429 for longer than we waited
  // Cancelled
  user_cancelled: "cancelled",
  // Failures
  run_failed: "system",
  eval_failed: "system",
  endpoint_failed: "system",
  container_failed: "system", // a container ended before its work was done
  container_lost: "system", // no heartbeat within the lease
  container_out_of_memory: "system",
  isolate_out_of_memory: "system",
  isolate_crashed: "system",
  attempt_stale: "system", // a newer attempt owns the job; the caller must exit
  store_conflict: "system", // a compare-and-set lost
  value_too_large: "system", // a store value over 350 kB; belongs into Blobs
  blob_corrupt: "system", // a blob does not hash to its name
  numeric_failure: "system", // NaN or infinity in a gradient
  engine_failed: "system",
  conversion_failed: "system", // weights could not be written in another format, several times over
  daemon_unreachable: "system",
  hub_unreachable: "system", // no answer from the hub, or only server errors
  aws_denied: "system", // the role, or its credentials, may not do this
  aws_resource_missing: "system", // a bucket, table or cluster of the stack is not there
  aws_unreachable: "system", // no answer from AWS, or only server errors
  deploy_failed: "system", // Pulumi could not make, change or destroy a stack
  version_mismatch: "system", // SDK and daemon of different versions, and the daemon is busy
  timeout: "system",
  internal: "system",
} as const satisfies Record<string, ErrorKind>;

export type ErrorKind = "user" | "system" | "capacity" | "cancelled";
export type ErrorCode = keyof typeof ERROR_CODES;
