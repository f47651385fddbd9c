import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { JobEventBody } from "../../../sdk/schema/job.ts";
import { createProgress } from "../../../engine/training/progress.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function collect() {
  const seen: string[] = [];
  const report = (body: JobEventBody): void => {
    if (body.type === "run" && body.event.type === "phase")
      seen.push(`${body.event.phase} ${body.event.current ?? ""}`);
  };
  return { seen, client: { report, setProgress: () => undefined } };
}

describe("progress", () => {
  it("thins out hot phases and shows the last one during a long phase", () => {
    const { seen, client } = collect();
    const progress = createProgress(client, 400);
    for (let step = 1; step <= 50; step++) {
      progress.phase("generate", step);
      progress.phase("score", step);
      progress.phase("train", step);
      vi.advanceTimersByTime(20);
    }
    expect(seen.length).toBeLessThanOrEqual(4);
    vi.advanceTimersByTime(5000);
    expect(seen.at(-1)).toBe("train 50");
    progress.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("leaves out metrics that are no numbers", () => {
    const reported: JobEventBody[] = [];
    const progress = createProgress({ report: (body) => reported.push(body), setProgress: () => undefined });
    progress.metrics(3, { loss: NaN, kl: Infinity, entropy: 2 });
    progress.close();
    expect(reported).toEqual([{ type: "run", event: { type: "metrics", step: 3, metrics: { entropy: 2 } } }]);
  });

  it("tells a phase that is said again and again once", () => {
    const { seen, client } = collect();
    const progress = createProgress(client, 400);
    for (let times = 0; times < 20; times++) {
      progress.phase("wait-for-teacher");
      vi.advanceTimersByTime(500);
    }
    expect(seen).toEqual(["wait-for-teacher "]);
    progress.phase("generate", 1);
    progress.phase("wait-for-teacher");
    vi.advanceTimersByTime(5_000);
    expect(seen.slice(1)).toEqual(["generate 1", "wait-for-teacher "]);
    progress.close();
  });

  it("never drops a rare phase", () => {
    const { seen, client } = collect();
    const progress = createProgress(client, 400);
    progress.phase("download-model");
    progress.phase("prepare-dataset");
    progress.phase("generate", 1);
    progress.phase("save-checkpoint", 1);
    vi.advanceTimersByTime(5000);
    expect(seen).toEqual(["download-model ", "prepare-dataset ", "save-checkpoint 1"]);
    progress.close();
  });
});
