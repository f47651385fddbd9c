import { join } from "node:path";
import type { Client } from "../../../client.ts";
import { jobCallsReply, type JobCallResult, type ToolDefinition } from "../../../schema/job.ts";
import type { RewardRow, Verdict } from "../../../schema/rollout.ts";
import { judgeResponse, type UserCodeExport } from "../../../schema/user-code.ts";
import { packUserCode, uploadUserCode } from "../../../upload.ts";
import type { ProjectConfig } from "../config-schema.ts";
import { rolloutDefaults } from "../config-schema.ts";
import type { Project } from "../project.ts";
import type { PlayedCall } from "./conversation.ts";

/** What a control plane takes at most is 8 MiB. */
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCH_ROWS = 256;
/** Longest time limit of a call of user code. */
const MAX_TIMEOUT_MS = 3_600_000;
/** For the way there and back, and the isolate's start. */
const SPARE_MS = 60_000;

/** The rewards and tools of a project, where they run: in isolates of the control plane. */
export interface ProjectUserCode {
  /** The rewards that there are; empty where nothing judges. */
  rewards: string[];
  tools: ToolDefinition[];
  /** One verdict a row, in their order. */
  judge: (rows: RewardRow[], signal: AbortSignal) => Promise<Verdict[]>;
  callTools: (calls: PlayedCall[], signal: AbortSignal) => Promise<JobCallResult[]>;
}

export interface OpenUserCodeParams {
  client: () => Client;
  /** Names of stored secrets that rewards and tools may read. */
  secrets: readonly string[];
  signal: AbortSignal;
}

/** Bundles and sends what a project exports; of a project without rewards and tools nothing is sent. */
export async function openUserCode(
  project: Project & { config: ProjectConfig },
  { client, secrets, signal }: OpenUserCodeParams,
): Promise<ProjectUserCode> {
  const { config } = project;
  const isSampled = config.dataset_type === "rl" || config.dataset_type === "distill";
  const rollout = config.rollout ?? rolloutDefaults;
  const [rewards, tools] = await Promise.all([
    config.dataset_type === "rl" ? opened(project, "rewards", client, signal) : undefined,
    isSampled ? opened(project, "tools", client, signal) : undefined,
  ]);
  const limits = {
    rewards: Math.min(rollout.reward_timeout * 1_000, MAX_TIMEOUT_MS),
    tools: Math.min(rollout.tool_timeout * 1_000, MAX_TIMEOUT_MS),
  };
  return {
    rewards: namesOf(rewards, "reward"),
    tools: (tools?.exports ?? []).filter(({ kind }) => kind === "tool").map(toolDefinition),
    async judge(rows, during) {
      if (!rewards) return rows.map(() => ({ scores: {}, errors: {} }));
      const verdicts: Verdict[] = [];
      for (const batch of batches(rows)) {
        const reply = await client().request(judgeResponse, "POST", `${rewards.path}/rewards`, {
          json: { rows: batch, timeoutMs: limits.rewards, secrets },
          signal: during,
          timeoutMs: limits.rewards * batch.length + SPARE_MS,
        });
        verdicts.push(...reply.verdicts);
      }
      return verdicts;
    },
    async callTools(calls, during) {
      if (!tools || calls.length === 0) return [];
      const reply = await client().request(jobCallsReply, "POST", `${tools.path}/tools`, {
        json: { calls, timeoutMs: limits.tools, secrets },
        signal: during,
        timeoutMs: limits.tools * calls.length + SPARE_MS,
        // What a tool does may be no less than done twice.
        retry: "unsent",
      });
      return reply.results;
    },
  };
}

async function opened(
  project: Project,
  word: "rewards" | "tools",
  client: () => Client,
  signal: AbortSignal,
): Promise<{ path: string; exports: UserCodeExport[] } | undefined> {
  const [file] = project[word].files;
  if (file === undefined || (project[word].items?.size ?? 0) === 0) return undefined;
  const packed = await packUserCode(join(project.folder, file));
  const { sha256, exports } = await uploadUserCode(client(), packed, signal);
  return { path: `/user-code/${sha256}`, exports };
}

function namesOf(code: { exports: UserCodeExport[] } | undefined, kind: UserCodeExport["kind"]): string[] {
  return (code?.exports ?? []).filter((each) => each.kind === kind).map(({ name }) => name);
}

/** A tool as chat completions take it. */
function toolDefinition({
  name,
  description = "",
  parameters = { type: "object" },
}: UserCodeExport): ToolDefinition {
  return { type: "function", function: { name, description, parameters } };
}

function batches(rows: readonly RewardRow[]): RewardRow[][] {
  const all: RewardRow[][] = [];
  let bytes = Infinity;
  for (const row of rows) {
    const size = JSON.stringify(row).length;
    const last = all.at(-1);
    if (last && last.length < BATCH_ROWS && bytes + size <= BATCH_BYTES) {
      last.push(row);
      bytes += size;
    } else {
      all.push([row]);
      bytes = size;
    }
  }
  return all;
}
