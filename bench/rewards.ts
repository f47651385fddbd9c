/** How many rollouts a second the haiku reward judges, through the control plane's judge and its isolates. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileBlobs } from "../functions/local/file-blobs.ts";
import { FileSecrets } from "../functions/local/file-secrets.ts";
import { SqliteStore } from "../functions/local/sqlite-store.ts";
import { systemClock } from "../functions/system/system-clock.ts";
import { createWorkerdIsolates } from "../functions/local/workerd-isolates/index.ts";
import { judgeRows } from "../functions/user-code/judge.ts";
import { preflightRewards } from "../functions/user-code/preflight.ts";
import { putUserCode } from "../functions/user-code/user-code.ts";
import type { RewardRow } from "../sdk/schema/rollout.ts";
import { bundleUserCode } from "../sdk/user-code/bundle.ts";
import { median } from "./figures.ts";

const HAIKU = new URL("../examples/haiku/", import.meta.url);
/** A step of 16 prompts with 8 samples each. */
const ROWS_PER_STEP = 128;
/** The first one starts the second isolate and lets both runtimes compile: it counts, and is a figure of its own. */
const ROUNDS = 6;
const STEPS_PER_ROUND = 200;
const POEM = "an old silent pond\na frog jumps into the pond\nsplash then silence again";

export async function run(): Promise<Record<string, number | null> & { notes?: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "spotter-bench-rewards-"));
  const store = new SqliteStore(join(folder, "state.db"));
  const isolates = createWorkerdIsolates({ workDir: join(folder, "isolates") });
  const deps = {
    store,
    isolates,
    blobs: new FileBlobs(join(folder, "blobs")),
    secrets: new FileSecrets(join(folder, "secrets.json")),
    clock: systemClock(),
  };
  try {
    const bundle = await timed(() => bundleUserCode(new URL("rewards.ts", HAIKU)));
    const { sha256, code, name } = bundle.value;
    const load = await timed(() => putUserCode(deps, sha256, code, name));
    const setup = { code: { sha256, secrets: [] }, timeoutMs: 10_000, maxMissingShare: 0.2 };
    const rows = readFileSync(new URL("train.jsonl", HAIKU), "utf8")
      .trim()
      .split("\n")
      .slice(0, 8)
      .map((line) => ({ prompt: [], row: JSON.parse(line) as Record<string, unknown> }));
    const preflight = await timed(() => preflightRewards(deps, setup, rows));
    const step = Array.from({ length: ROWS_PER_STEP }, (_, index) =>
      rewardRow(rows[index % rows.length]?.row ?? {}),
    );
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { ms } = await timed(async () => {
        for (let i = 0; i < STEPS_PER_ROUND; i++) await judgeRows(deps, setup, step);
      });
      rates.push((STEPS_PER_ROUND * ROWS_PER_STEP * 1000) / ms);
    }
    const [firstRowsPerS = 0, ...steady] = rates;
    return {
      rowsPerS: median(steady),
      firstRowsPerS,
      bundleMs: bundle.ms,
      loadMs: load.ms,
      preflightMs: preflight.ms,
    };
  } finally {
    await isolates.close();
    await store.close();
    await rm(folder, { recursive: true });
  }
}

function rewardRow(row: Record<string, unknown>): RewardRow {
  return {
    row,
    metadata: {},
    variables: {},
    response: { content: POEM, reasoning: "", toolCalls: [] },
    completion: { tokens: 24, finishReason: "stop" },
    messages: [
      { role: "user", content: "Write a haiku about rain." },
      { role: "assistant", content: POEM },
    ],
  };
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const startMs = performance.now();
  const value = await work();
  return { value, ms: performance.now() - startMs };
}
