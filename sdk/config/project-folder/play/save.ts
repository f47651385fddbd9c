import { mkdir, writeFile } from "node:fs/promises";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../../schema/files/make-folder.ts";
import { SpotterError } from "../../../schema/errors.ts";
import type { Rollout } from "./play-project.ts";

/** The folder of the rollouts of one test. */
export interface SavedRollouts {
  /** Relative to the project. */
  folder: string;
  /** Writes one, and gives its file relative to the project. */
  save(rollout: Rollout): Promise<string>;
}

/**
 * Makes `rollouts/rollout_N` in a project, N being the first number above all that are there: nothing is ever
 * written over, also where two tests run at once.
 *
 * @throws SpotterError `invalid_input` where nothing can be written.
 */
export async function openRollouts(project: string, model: string): Promise<SavedRollouts> {
  const all = join(project, "rollouts");
  const folder = await refusingly(all, async () => {
    await makeFolder(all);
    return newFolder(all);
  });
  return {
    folder: `rollouts/${folder}`,
    async save(rollout) {
      const file = `rollouts/${folder}/sample_${rollout.number}.json`;
      const text = `${JSON.stringify(savedForm(rollout, folder, model), undefined, 2)}\n`;
      await refusingly(file, () => writeFile(join(project, file), text, { flag: "wx" }));
      return file;
    },
  };
}

async function newFolder(all: string): Promise<string> {
  const numbers = existsSync(all)
    ? readdirSync(all).map((name) => Number(/^rollout_(\d+)$/.exec(name)?.[1] ?? 0))
    : [];
  for (let number = Math.max(0, ...numbers) + 1; ; number++) {
    try {
      await mkdir(join(all, `rollout_${number}`));
      return `rollout_${number}`;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

async function refusingly<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw new SpotterError("invalid_input", `${path} cannot be written: ${(cause as Error).message}`, {
      where: path,
      hint: "Make the project's folder writable, or leave the rollouts out with --no-save.",
      cause,
    });
  }
}

/** The keys that readers of such files know, and some of our own. */
function savedForm(rollout: Rollout, folder: string, model: string): Record<string, unknown> {
  const { entry, conversation, verdict, failure } = rollout;
  const messages = conversation?.messages ?? entry.row.prompt;
  return {
    id: `${folder}/sample_${rollout.number}`,
    entry: entry.index,
    sample: rollout.sample,
    model,
    seed: rollout.seed,
    completed: failure === undefined ? conversation?.finishReason === "stop" : "error",
    success: failure === undefined && Object.keys(verdict?.errors ?? {}).length === 0,
    total_reward: verdict?.total ?? null,
    rewards: Object.fromEntries(
      Object.entries(verdict?.scores ?? {}).map(([name, { score }]) => [name, score]),
    ),
    verdict: verdict ?? null,
    errors: [
      ...(failure === undefined ? [] : [failure.message]),
      ...Object.values(verdict?.errors ?? {}).map(({ message }) => message),
    ],
    tool_errors: conversation?.toolErrors ?? [],
    turns: conversation?.turns ?? 0,
    truncated: conversation?.truncated ?? false,
    finish_reason: conversation?.finishReason ?? null,
    promptTokens: conversation?.promptTokens ?? 0,
    totalTokens: (conversation?.promptTokens ?? 0) + (conversation?.completionTokens ?? 0),
    completion: conversation?.response.content ?? null,
    metadata: entry.row.row.metadata ?? null,
    conversation: messages,
  };
}
