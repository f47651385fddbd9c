/**
 * Spotter: serve, evaluate and train language models, on this machine or on your own AWS account.
 *
 * @example
 * import { Endpoint, TrainConfig, recipes } from "spotter";
 *
 * @module
 */
export { Client, type CallOptions, type ClientParams, type Connection } from "./client.ts";
export {
  Endpoint,
  type LaunchEndpointParams,
  type UpdateEndpointParams,
  type WaitUntilReadyParams,
} from "./endpoint.ts";
export type {
  ChatFinishReason,
  ChatLogprob,
  ChatMessage,
  ChatOptions,
  ChatReply,
  ChatStreamDelta,
  ChatToolCall,
  ChatUsage,
} from "./chat.ts";
export {
  Dataset,
  FileDataset,
  type DatasetParams,
  type FileDatasetParams,
  type FormattedRow,
} from "./dataset.ts";
export type { Row } from "./dataset-rows.ts";
export { HuggingFaceDataset, type HuggingFaceDatasetParams } from "./hugging-face-dataset.ts";
export { JsonlDataset } from "./jsonl-dataset.ts";
export { Model, models, type ModelParams, type PushModelParams } from "./model.ts";
export type { CriticParams, GrpoParams } from "./grpo-params.ts";
export { recipes, type DistillParams, type PpoParams, type Recipe, type SftParams } from "./recipe.ts";
export type { TrainerParams } from "./trainer-params.ts";
export {
  TrainConfig,
  type HardwareParams,
  type LaunchOptions,
  type LoraParams,
  type TrainConfigParams,
} from "./train-config.ts";
export type { TrackerParams } from "./trackers.ts";
export type { EnvironmentParams, Tools, ToolsParams } from "./environment-params.ts";
export type { Rewards, RewardsParams } from "./rewards-params.ts";
export type { Teacher, TeacherParams } from "./teacher.ts";
export {
  Run,
  type ListRunsParams,
  type RunEventsParams,
  type RunResult,
  type UpdateRunParams,
} from "./run.ts";
export { Checkpoint, type ExportParams } from "./checkpoint.ts";
export { Eval, type EvalParams } from "./eval.ts";
export { EvalRun, type EvalResult } from "./eval-run.ts";
export { Key, type CreateKeyParams, type UpdateKeyParams } from "./key.ts";
export { Secret } from "./secret.ts";
export { Webhook, type SetWebhookParams } from "./webhook.ts";
export { reward, type Reward, type RewardArgs, type RewardOptions, type RewardResult } from "./reward.ts";
export type { Judge, JudgeParams } from "./judge.ts";
export { mathEqual, type MathEqualOptions } from "./math-equal.ts";
export { tool, type Tool, type ToolContext, type ToolOptions } from "./tool.ts";
export { environment, type Environment, type EnvironmentSpec, type EnvironmentTurn } from "./environment.ts";
export { SpotterError } from "./schema/errors.ts";
export type { ErrorCode, ErrorKind } from "./schema/error-codes.ts";
export type { RunEvent, RunEventBody } from "./schema/event.ts";
export type { Run as RunRecord, RunPhase, RunState } from "./schema/run.ts";
export type { Charge, Estimate, Spend } from "./schema/cost.ts";
export type { RunSpec } from "./schema/run-spec.ts";
export type { EndpointState } from "./schema/endpoint.ts";
export type { ScalingSettings } from "./schema/scaling.ts";
export type { EvalState, Interval } from "./schema/eval.ts";
export type { EvalRow } from "./schema/eval-row.ts";
export type { Compared, EvalComparison } from "./schema/eval-comparison.ts";
export type { ParsedResponse, Rollout, ToolCall, Verdict } from "./schema/rollout.ts";
