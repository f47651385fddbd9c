import { describe, expect, it } from "vitest";
import { lossOf } from "../../../functions/reconciler/liveness.ts";
import type { JobView } from "../../../functions/reconciler/views.ts";
import { policy as usual } from "./policy.ts";

const policy = { ...usual, leaseMs: 90_000, startMs: 900_000, leasesFromMs: 0 };
const STARTED_MS = 1_000_000;
const job = (changes: Partial<JobView>): JobView => ({
  id: "train-1-a1",
  attempt: 1,
  startedAtMs: STARTED_MS,
  container: { state: "starting" },
  ...changes,
});
const codeAt = (view: JobView, ms: number) => lossOf(view, STARTED_MS + ms, policy)?.code;

describe("a container that starts", () => {
  it("has as long as a start may take, not a lease only", () => {
    expect(codeAt(job({}), 360_000)).toBeUndefined();
    expect(codeAt(job({}), 900_001)).toBe("container_lost");
    expect(codeAt(job({ startedAtMs: undefined }), 9_000_000)).toBeUndefined();
  });

  it("has a whole lease to say its first word, from where it runs", () => {
    const up = job({ container: { state: "running", sinceMs: STARTED_MS + 360_000 } });
    expect(codeAt(up, 360_000 + 90_000)).toBeUndefined();
    expect(codeAt(up, 360_000 + 90_001)).toBe("container_lost");
  });

  it("is not kept by a platform whose clock is ahead", () => {
    const ahead = job({
      container: { state: "running", sinceMs: STARTED_MS + 9_000_000 },
      heartbeatAtMs: STARTED_MS,
    });
    expect(codeAt(ahead, 90_001)).toBe("container_lost");
  });
});
