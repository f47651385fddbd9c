import { describe, expect, it, onTestFinished, vi } from "vitest";
import { HANG, jsonReply, RESET, type Reply, type Script } from "../../fakes/engine/engine.ts";
import { vllmAnswer, vllmErrorEvent, vllmFlatError, vllmStream } from "../../fakes/engine/vllm.ts";
import { FREE, HOSTS, served } from "../../fakes/served.ts";

const STREAM = vllmStream(["a", "b"]);
/** All the ways an engine may answer, or not. */
const REPLIES: Reply[] = [
  { steps: STREAM },
  { steps: [...STREAM, "junk"] },
  { steps: STREAM.slice(0, 2) },
  { steps: [...STREAM.slice(0, 2), RESET] },
  { steps: [...STREAM.slice(0, 2), vllmErrorEvent("no")] },
  { steps: [RESET] },
  { steps: [HANG] },
  { steps: [...STREAM.slice(0, 2), HANG] },
  jsonReply(vllmAnswer("a")),
  jsonReply(vllmFlatError("no", 500), 500),
  { type: "application/json", steps: ["{", RESET] },
  { type: "application/json", steps: [HANG] },
];

/** A linear congruential generator (Numerical Recipes): fractions that are the same in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

describe.each(HOSTS)("slots through the %s", (host) => {
  it("are given back exactly once, whatever engines and clients do", async () => {
    const random = seeded(20_261_130);
    const any: Script = () => REPLIES[Math.floor(random() * REPLIES.length)] ?? { steps: [] };
    const gym = await served({
      onEnd: onTestFinished,
      scripts: [any, any],
      scaling: { targetConcurrency: 3, queueLimit: 20 },
    });
    const { load } = gym.plane.control;
    const mostAtOnce = new Map<string, number>();
    gym.plane.control.observer.add({
      ended() {
        for (const [jobId, count] of load.snapshot("base").inFlightByReplica)
          mostAtOnce.set(jobId, Math.max(count, mostAtOnce.get(jobId) ?? 0));
      },
    });
    const overNode = async () => {
      const abort = new AbortController();
      // Also those that hang end by this.
      const timer = setTimeout(() => abort.abort(), 10 + random() * 50);
      try {
        const response = await gym.chat("node", { stream: random() < 0.5 }, { signal: abort.signal });
        await response.text();
      } catch {
        // Left, or broken off: both are part of it.
      } finally {
        clearTimeout(timer);
      }
    };
    const throughApp = async () => {
      const response = await gym.chat("app", { stream: true });
      // Reads a part, or nothing at all, and leaves.
      const reader = response.body?.getReader();
      if (random() < 0.5) await reader?.read().catch(() => undefined);
      await reader?.cancel().catch(() => undefined);
    };
    if (host === "node")
      for (let batch = 0; batch < 6; batch++) await Promise.all(Array.from({ length: 12 }, overNode));
    else {
      const all = Array.from({ length: 20 }, throughApp);
      await Promise.race([Promise.all(all), new Promise((resolve) => setTimeout(resolve, 300))]);
    }
    // Streams that hang before their first event give the app no sign of a client that left: time ends them.
    gym.plane.clock.advance(1_000);
    gym.plane.clock.advance(605_000);
    await vi.waitFor(() => expect(gym.load()).toEqual(FREE), { timeout: 3_000 });
    const { inFlightByReplica, accepted } = load.snapshot("base");
    expect(inFlightByReplica.size).toBe(0);
    expect(accepted).toBeGreaterThan(5);
    // Over the limit by those that lost the other replica: they go on here without waiting again.
    for (const count of mostAtOnce.values()) expect(count).toBeLessThanOrEqual(3 + 3);
    await vi.waitFor(() => expect(gym.engines.map(({ working }) => working)).toEqual([0, 0]));
  });
});
