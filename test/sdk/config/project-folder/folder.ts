import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { BASE } from "./check.ts";

const ROW = `{"messages": [{"role": "user", "content": "2 + 2?"}], "rewards": ["accuracy"]}\n`;

export const REWARDS_PY = `from rnow.core import reward, RewardArgs

@reward
def accuracy(args: RewardArgs, messages: list) -> float:
    return 1.0
`;

/** A project that is valid: four rows, one reward. */
export const PROJECT: Record<string, string> = {
  "config.yml": BASE,
  "train.jsonl": ROW.repeat(4),
  "rewards.py": REWARDS_PY,
};

/** A folder of files; undefined leaves one of the valid project's out. */
export function projectFolder(files: Record<string, string | undefined> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-project-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries({ ...PROJECT, ...files })) {
    if (text === undefined) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
