import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { hasPython } from "../spotter_agent/has-python.ts";
import { runPython } from "../spotter_agent/run-python.ts";

/** A loop that asks as slime's train.py does: to save with the number of rollouts, to evaluate without it. */
const LOOP = `
import os, signal, sys
from slime.utils.misc import should_run_periodic_action
save_interval, asked_at, when = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for rollout_id in range(6):
    if rollout_id == asked_at and when == "before":
        os.kill(os.getpid(), signal.SIGTERM)
    if should_run_periodic_action(rollout_id, save_interval, None, 6):
        print("saved", rollout_id, flush=True)
    if rollout_id == asked_at and when == "after":
        os.kill(os.getpid(), signal.SIGTERM)
    print("synced", rollout_id, flush=True)
    if should_run_periodic_action(rollout_id, 2, None):
        print("evaluated", rollout_id, flush=True)
print("done", flush=True)
`;

async function told(...words: string[]): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), "spotter-launch-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const script = join(dir, "train.py");
  writeFileSync(script, LOOP);
  return runPython(
    `
import subprocess, sys
done = subprocess.run([sys.executable, "-m", "spotter_slime.launch", ${JSON.stringify(script)}, *${JSON.stringify(words)}],
    stdout=subprocess.PIPE, text=True)
print(done.stdout, end="")
print("ended", done.returncode)
`,
  );
}

const ASKED = "asked to end: after the next step's checkpoint";

describe.runIf(hasPython)("slime's loop under the launcher", () => {
  it("goes its way when nobody asks", async () => {
    const lines = await told("3", "-1", "never");
    expect(lines.filter((line) => line.startsWith("saved"))).toEqual(["saved 2", "saved 5"]);
    expect(lines.filter((line) => line.startsWith("evaluated"))).toEqual(
      [1, 3, 5].map((each) => `evaluated ${each}`),
    );
    expect(lines.slice(-2)).toEqual(["done", "ended 0"]);
  });

  it("ends after the step that it is asked in, saved, and evaluates no more", async () => {
    const lines = await told("10", "1", "before");
    expect(lines).toEqual(["synced 0", ASKED, "saved 1", "synced 1", "ended 143"]);
  });

  it("makes one step more where the moment to save has passed", async () => {
    const lines = await told("10", "2", "after");
    expect(lines.slice(-5)).toEqual([ASKED, "synced 2", "saved 3", "synced 3", "ended 143"]);
    expect(lines).not.toContain("saved 2");
  });
});
