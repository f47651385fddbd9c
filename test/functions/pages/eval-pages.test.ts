import { describe, expect, it, onTestFinished } from "vitest";
import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { fakeJob } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import { session } from "../../fakes/session.ts";

describe("pages of evals", () => {
  it("show every id to copy, the scores, and each row with its verdict or its error (A26-A32 b)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { cookie } = await session(plane, "/ui/evals");
    const page = async (path: string) => (await plane.app.request(path, { headers: { cookie } })).text();
    expect(await page("/ui/evals")).toContain("No eval yet.");
    const { dataset, rewards } = await preparedSpec(plane);
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
    const asked = { name: "MATH <1>", endpoint: "base", dataset, rewards, passAt: [{ k: 1 }] };
    const { id } = await plane.json<EvalRecord>("POST", "/evals", asked);
    await plane.reconciler.settle();
    const running = await page("/ui/evals");
    expect(running).toContain(`<code>${id}</code>`);
    expect(running).toContain(`eval_id: ${id}`);
    expect(running).toContain('http-equiv="refresh"');
    const job = fakeJob(plane, `eval-${id}-a1`, 1);
    await job.heartbeat();
    const row = { input: {}, text: "<b>4</b>", finishReason: "stop", tokens: 2, sample: 0 };
    const messages = [
      { role: "user", content: "2+2?" },
      { role: "assistant", content: "", tool_calls: [{ function: { name: "add" } }] },
      { role: "tool", content: "4" },
      { role: "assistant", content: "<b>4</b>" },
    ];
    await job.report({
      type: "eval-rows",
      total: 3,
      rows: [
        {
          ...{ ...row, row: 0, messages, turns: 2 },
          verdict: { total: 1, scores: { exact: { score: 1, weight: 1, precondition: false } }, errors: {} },
        },
        {
          ...row,
          row: 1,
          verdict: { scores: {}, errors: { exact: { code: "reward_failed", message: "it threw" } } },
        },
        {
          ...{ ...row, row: 2, verdict: { scores: {}, errors: {} } },
          failure: { code: "context_length_exceeded", message: "too long" },
        },
      ],
    });
    await job.exit("succeeded");
    const html = await page(`/ui/evals/${id}`);
    expect(html).toContain("MATH &lt;1&gt;");
    expect(html).toContain("&lt;b&gt;4&lt;/b&gt;");
    expect(html).not.toContain("<b>4");
    for (const text of [
      "pass@1",
      "Whole conversation (4 messages)",
      "add",
      "no verdict",
      "it threw",
      "not played",
    ])
      expect(html).toContain(text);
    expect(html).toContain("2 of 3, 1 of them could not be played");
    expect(html).not.toContain('http-equiv="refresh"');
    expect((await plane.app.request("/ui/evals/nope", { headers: { cookie } })).status).toBe(404);
    expect((await plane.app.request(`/ui/evals/${id}`)).status).toBe(401);
  });
});
