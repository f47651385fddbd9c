import { join } from "node:path";
import type { Client } from "../../../client.ts";
import { jobCallsReply, type ToolDefinition } from "../../../schema/job.ts";
import { parseWith } from "../../../schema/parse.ts";
import { pythonHostSetup } from "../../../schema/python-host.ts";
import type { RewardRow, Verdict } from "../../../schema/rollout.ts";
import { judgeResponse, type UserCodeExport } from "../../../schema/user-code.ts";
import { packUserCode, uploadUserCode } from "../../../upload.ts";
import type { ProjectConfig } from "../config-schema.ts";
import { rolloutDefaults } from "../config-schema.ts";
import type { Project } from "../project.ts";
import type { PlayParams } from "./conversation.ts";
import { openMockJudge } from "./mock-judge.ts";
import { openPythonCode, type PythonCode, type PythonCodeParams } from "./python-code.ts";

/** What a control plane takes at most is 8 MiB. */
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCH_ROWS = 256;
/** Longest time limit of a call of user code. */
const MAX_TIMEOUT_MS = 3_600_000;
/** For the way there and back, and the isolate's start. */
const SPARE_MS = 60_000;

/** The rewards and tools of a project, where they run: in isolates of the control plane, those of Python beside it. */
export interface ProjectUserCode {
  /** The rewards that there are; empty where nothing judges. */
  rewards: string[];
  tools: ToolDefinition[];
  /** One verdict a row, in their order. */
  judge: (rows: RewardRow[], signal: AbortSignal) => Promise<Verdict[]>;
  /** How many questions rewards have had for models so far. Of rewards in Python only the mock knows. */
  asked: () => number;
  callTools: PlayParams["callTools"];
  /** Resolves when nothing of it runs any more. */
  close: () => Promise<void>;
}

export interface OpenUserCodeParams extends Pick<
  PythonCodeParams,
  "environment" | "cacheFolder" | "onLine" | "signal"
> {
  client: () => Client;
  /** Names of secrets that rewards and tools may read: stored ones, for Python those of .env and the environment. */
  secrets: readonly string[];
  /** `mock`: what rewards ask of a model is answered by the mock. Default: by the server of the granted secrets. */
  judge?: "mock" | undefined;
}

/** Bundles and sends what a project exports; of a project without rewards and tools nothing is sent. */
export async function openUserCode(
  project: Project & { config: ProjectConfig },
  params: OpenUserCodeParams,
): Promise<ProjectUserCode> {
  const { client, secrets, signal } = params;
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
  const python = await openedPython(project, isSampled, limits, params);
  let asked = 0;
  return {
    asked: () => asked + (python?.asked() ?? 0),
    rewards: [...namesOf(rewards, "reward"), ...(python?.rewards ?? [])],
    tools: [
      ...(tools?.exports ?? []).filter(({ kind }) => kind === "tool").map(toolDefinition),
      ...(python?.tools ?? []),
    ],
    close: async () => python?.close(),
    async judge(rows, during) {
      if (python && python.rewards.length > 0) return python.judge(rows, during);
      if (!rewards) return rows.map(() => ({ scores: {}, errors: {} }));
      const verdicts: Verdict[] = [];
      for (const batch of batches(rows)) {
        const reply = await client().request(judgeResponse, "POST", `${rewards.path}/rewards`, {
          json: {
            ...{ rows: batch, timeoutMs: limits.rewards, secrets },
            // Older servers do not know the word, and need not where it is not said.
            ...(params.judge && { judge: params.judge }),
          },
          signal: during,
          timeoutMs: limits.rewards * batch.length + SPARE_MS,
        });
        verdicts.push(...reply.verdicts);
        asked += reply.asked ?? 0;
      }
      return verdicts;
    },
    async callTools(calls, row, during) {
      if (python && python.tools.length > 0) return python.callTools(calls, row, during);
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

/** What of it is Python; undefined where nothing is. */
async function openedPython(
  project: Project & { config: ProjectConfig },
  isSampled: boolean,
  limits: { rewards: number; tools: number },
  params: OpenUserCodeParams,
): Promise<(PythonCode & { asked: () => number }) | undefined> {
  const part = (word: "rewards" | "tools", isUsed: boolean) => {
    const file = isUsed ? pythonFile(project, word) : undefined;
    return file === undefined ? {} : { [word]: { file, timeoutMs: limits[word] } };
  };
  const code = { ...part("rewards", project.config.dataset_type === "rl"), ...part("tools", isSampled) };
  if (Object.keys(code).length === 0) return undefined;
  const mock = params.judge === "mock" ? await openMockJudge() : undefined;
  const opened = await openPythonCode({
    ...params,
    folder: project.folder,
    code: parseWith(pythonHostSetup.shape.code, code, "The code"),
    environment: { ...params.environment, ...(mock && { LLM_JUDGE_API_URL: mock.url }) },
  }).catch(async (error: unknown) => {
    await mock?.close();
    throw error;
  });
  return {
    ...opened,
    asked: () => mock?.asked() ?? 0,
    async close() {
      await opened.close();
      await mock?.close();
    },
  };
}

function pythonFile(project: Project, word: "rewards" | "tools"): string | undefined {
  const { files, items } = project[word];
  return (items?.size ?? 0) === 0 ? undefined : files.find((file) => file.endsWith(".py"));
}

async function opened(
  project: Project,
  word: "rewards" | "tools",
  client: () => Client,
  signal: AbortSignal,
): Promise<{ path: string; exports: UserCodeExport[] } | undefined> {
  const file = project[word].files.find((each) => !each.endsWith(".py"));
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
