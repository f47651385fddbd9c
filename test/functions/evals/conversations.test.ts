import { createHash } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import type { EvalJob } from "../../../sdk/schema/job.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { fakeIsolates } from "../../fakes/isolates.ts";
import { fakeJob } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

const bundle = JSON.stringify({ v: 1, files: { "rewards.py": "x = 1\n" } });
const sha256 = createHash("sha256").update(bundle).digest("hex");

describe("an eval of conversations", () => {
  it("is told of its tools, and calls them as a run does", async () => {
    const isolates = fakeIsolates(
      () => ({ value: 5 }),
      [
        { name: "score", kind: "reward" },
        { name: "add", kind: "tool", description: "adds", parameters: { type: "object" } },
      ],
    );
    const plane = await testPlane({ isolates, onEnd: onTestFinished });
    const { dataset, rewards } = await preparedSpec(plane);
    const { code } = rewards as { code: { sha256: string } };
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
    const rollout = { maxTurns: 4, maxToolTokens: 50 };
    const asked = { endpoint: "base", dataset, rewards, tools: { code }, rollout };
    const { id } = await plane.json<EvalRecord>("POST", "/evals", asked);
    await plane.reconciler.settle();
    const job = fakeJob(plane, `eval-${id}-a1`, 1);
    expect(await job.call<EvalJob>("GET", "")).toMatchObject({
      spec: { rollout: { ...rollout, terminationPolicy: "last_tool" } },
      tools: [{ function: { name: "add", description: "adds" } }],
    });
    const calls = [
      { tool: "add", input: { a: 2 } },
      { tool: "sub", input: {} },
    ];
    expect(await job.call("POST", "/tools", { attempt: 1, calls })).toMatchObject({
      results: [{ value: 5 }, { error: { code: "tool_missing" } }],
    });
  });

  it("gets its Python and no other, and is refused where there is none to run it", async () => {
    const plane = await testPlane({ config: { hasPython: () => true }, onEnd: onTestFinished });
    const { dataset } = await preparedSpec(plane);
    await plane.json("PUT", `/user-code/${sha256}?name=rewards.py&language=python`, bundle);
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
    const python = { code: { sha256 }, rewards: { file: "rewards.py" } };
    const { id } = await plane.json<EvalRecord>("POST", "/evals", { endpoint: "base", dataset, python });
    await plane.reconciler.settle();
    const job = fakeJob(plane, `eval-${id}-a1`, 1);
    const told = await job.call<EvalJob>("GET", "");
    const path = new URL(told.python?.code.url ?? "").pathname.replace(`/jobs/${job.id}`, "");
    expect(await (await job.answer("GET", path)).text()).toBe(bundle);

    const without = await testPlane({ onEnd: onTestFinished });
    await preparedSpec(without);
    await without.json("PUT", `/user-code/${sha256}?name=rewards.py&language=python`, bundle);
    await without.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
    const refused = await without.call("POST", "/evals", { endpoint: "base", dataset, python });
    expect(await refused.json()).toMatchObject({ error: { code: "python_missing" } });
  });

  it("needs something that judges, in one language", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { dataset, rewards } = await preparedSpec(plane);
    const python = { code: { sha256 }, rewards: { file: "rewards.py" } };
    for (const [body, message] of [
      [{}, "an eval needs at least one reward"],
      [{ rewards, python }, "write all rewards in one language"],
    ] as const) {
      const response = await plane.call("POST", "/evals", { endpoint: "base", dataset, ...body });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain(message);
    }
  });
});
