import { describe, expect, it, onTestFinished } from "vitest";
import type { Run, RunDetail } from "../../../sdk/schema/run.ts";
import type { Rollout } from "../../../sdk/schema/rollout.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { fakeIsolates } from "../../fakes/isolates.ts";
import { runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

describe("the list of runs", () => {
  it("is newest first, in pages, and by state", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const spec = await preparedSpec(plane);
    const ids: string[] = [];
    for (let index = 0; index < 5; index++)
      ids.unshift((await plane.json<RunDetail>("POST", "/runs", { ...spec, name: `run ${index}` })).run.id);
    await plane.reconciler.settle();
    type Page = { items: Run[]; next?: string };
    const first = await plane.json<Page>("GET", "/runs?limit=3");
    const second = await plane.json<Page>(
      "GET",
      `/runs?limit=3&after=${encodeURIComponent(first.next ?? "")}`,
    );
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids);
    expect(second.next).toBeUndefined();
    await plane.json("POST", `/runs/${ids[1] ?? ""}/cancel`);
    plane.containers.set(`train-${ids[1] ?? ""}-a1`, {
      state: "exited",
      exitCode: 0,
      reason: "done",
      logTail: [],
    });
    await plane.reconciler.settle();
    const cancelled = await plane.json<Page>("GET", "/runs?state=cancelled");
    expect(cancelled.items.map(({ id }) => id)).toEqual([ids[1]]);
    const wrong = await plane.call("GET", "/runs?state=sleeping");
    expect(await wrong.json()).toMatchObject({ error: { code: "invalid_input", where: "state" } });
  });
});

describe("accepting a run", () => {
  it("tries the rewards first, and keeps nothing of a run whose rewards are broken (55)", async () => {
    const broken = { error: { code: "reward_failed", message: "haiku is not defined (rewards.ts:3:5)" } };
    const plane = await testPlane({ onEnd: onTestFinished, isolates: fakeIsolates(() => broken) });
    const response = await plane.call("POST", "/runs", await preparedSpec(plane));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "reward_failed", message: expect.stringContaining("rewards.ts:3:5") as string },
    });
    expect(await plane.json("GET", "/runs")).toEqual({ items: [] });
    expect(plane.containers.launched).toEqual([]);
  });

  it("refuses work that is none (24), what contradicts itself (58), and names that do not exist", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const spec = await preparedSpec(plane);
    const code = async (changes: object) => {
      const response = await plane.call("POST", "/runs", { ...spec, ...changes });
      return ((await response.json()) as { error: { code: string; where?: string } }).error;
    };
    expect(await code({ trainer: { steps: 0 } })).toMatchObject({ where: "trainer.steps" });
    expect(await code({ rewards: undefined })).toMatchObject({ where: "rewards" });
    expect(await code({ rewards: { code: { sha256: "1".repeat(64) } } })).toMatchObject({
      code: "not_found",
    });
    expect(await code({ startFrom: { checkpoint: "run-x@3" } })).toMatchObject({
      code: "checkpoint_not_found",
    });
    expect(await code({ evalEvery: 2 })).toMatchObject({ where: "evalEvery" });
    expect(await code({ trainer: { steps: 3, learning_rate: 1 } })).toMatchObject({ code: "unknown_key" });
  });
});

describe("a run's rollouts", () => {
  it("are stored by step, announced once, and judged with the run's own rewards", async () => {
    const isolates = fakeIsolates((row) => ({ value: JSON.stringify(row).includes("moss") ? 2 : 1 }));
    const plane = await testPlane({ onEnd: onTestFinished, isolates });
    const { id, job } = await runningRun(plane);
    const rewardRow = (content: string) => ({
      ...{ row: {}, metadata: {}, variables: {}, messages: [] },
      response: { content, reasoning: "", toolCalls: [] },
      completion: { tokens: 1, finishReason: "stop" },
    });
    const rows = [rewardRow("moss"), rewardRow("rain")];
    const { verdicts } = await job.call<{ verdicts: Rollout["verdict"][] }>("POST", "/rewards", {
      attempt: 1,
      rows,
    });
    expect(verdicts.map(({ total }) => total)).toEqual([2, 1]);
    const rollouts = verdicts.map((verdict, index): Rollout => {
      const tokens = { tokenIds: [1, 2], mask: [0, 1], logprobs: [0, -0.5] };
      return {
        step: 1,
        index,
        group: 0,
        row: {},
        messages: [],
        ...tokens,
        text: "雨",
        finishReason: "stop",
        verdict,
      };
    });
    for (let times = 0; times < 2; times++)
      expect(await job.call("POST", "/rollouts", { attempt: 1, step: 1, rollouts })).toEqual({ count: 2 });
    expect(await plane.json("GET", `/runs/${id}/rollouts?step=1`)).toEqual({ step: 1, rollouts });
    expect(await plane.json("GET", `/runs/${id}/rollouts`)).toEqual({ step: 1, rollouts });
    expect((await plane.call("GET", `/runs/${id}/rollouts?step=2`)).status).toBe(404);
    const { events } = await plane.json<{ events: { body: { type: string } }[] }>(
      "GET",
      `/runs/${id}/events`,
    );
    expect(events.filter(({ body }) => body.type === "rollouts")).toHaveLength(1);
    expect(await plane.json("GET", `/runs/${id}/logs`)).toEqual({ lines: [`line of ${job.id}`] });
  });
});
