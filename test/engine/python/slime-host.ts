import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { startFakeControlPlane, type FakeControlPlane } from "../fake-control-plane.ts";

/** Imports the plug-in under stub modules of slime, with the options that it reads and a way to make samples. */
export const HEAD = `
import asyncio, json, math, types
from slime.utils import http_utils
from slime.utils.types import Sample
import spotter_slime
args = types.SimpleNamespace(sglang_router_ip="r", sglang_router_port=1, rollout_max_context_len=None,
  advantage_estimator="grpo", n_samples_per_prompt=3, rollout_batch_size=2, rewards_normalization=True,
  grpo_std_normalization=True, reward_key=None)
def sample(prompt="Hi", **own):
    return Sample(prompt=f"[user]{prompt}\\x03\\n[assistant]", metadata={"spotter": {
      "row": {"metadata": {"n": 1}, "x": 2}, "prompt": [{"role": "user", "content": prompt}], "rewards": None, "tools": None, **own}})
def plain(value):
    if isinstance(value, float) and math.isnan(value): return "none"
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value
def show(value): print(json.dumps(plain(value)), flush=True)
`;

export interface Host {
  plane: FakeControlPlane;
  env: Record<string, string>;
  dir: string;
}

/** A control plane, and the setup that the agent leaves for the plug-in. */
export async function host(setup: object = {}): Promise<Host> {
  const dir = await mkdtemp(join(tmpdir(), "spotter-slime-"));
  const plane = await startFakeControlPlane(dir);
  const file = join(dir, "setup.json");
  const rollout = { maxTurns: 3, terminationPolicy: "last_tool", chatTemplateKwargs: {} };
  await writeFile(file, JSON.stringify({ rollout, ...setup }));
  onTestFinished(async () => {
    await plane[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
  });
  return { plane, dir, env: { ...plane.env, SPOTTER_ATTEMPT: "2", SPOTTER_SLIME_SETUP: file } };
}
