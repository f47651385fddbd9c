import { describe, expect, it, onTestFinished } from "vitest";
import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import { session } from "../../fakes/session.ts";

const OWN = "http://127.0.0.1:7717";

async function open() {
  const plane = await testPlane({ onEnd: onTestFinished });
  const { cookie } = await session(plane, "/ui/evals");
  const page = async (path: string) => (await plane.app.request(path, { headers: { cookie } })).text();
  const headers = { cookie, origin: OWN, "content-type": "application/json" };
  const post = async (body: object, more: Record<string, string> = {}) => {
    const init = { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) };
    const response = await plane.app.request("/ui/api/evals", init);
    return { status: response.status, json: (await response.json()) as EvalRecord };
  };
  await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
  return { plane, page, post };
}

describe("the page of a new eval", () => {
  it("says how a first one comes about where there is nothing to take rows from", async () => {
    const { page } = await open();
    expect(await page("/ui/evals")).toContain('href="/ui/evals/new"');
    const html = await page("/ui/evals/new");
    expect(html).toContain("npx spotter eval -d my-project");
    expect(html).not.toContain("<form");
  });

  it("offers runs and evals to take rows from, and who may answer", async () => {
    const { plane, page } = await open();
    const run = await runningRun(plane, { name: "<haiku>" });
    const { dataset, rewards } = await preparedSpec(plane);
    const { id } = await plane.json<EvalRecord>("POST", "/evals", { endpoint: "base", dataset, rewards });
    const html = await page(`/ui/evals/new?from=${run.id}`);
    expect(html).toContain(`<option value="${id}">eval ${id}, `);
    expect(html).toMatch(
      new RegExp(`<option value="${run.id}" selected="">run &lt;haiku&gt; \\(${run.id}\\), \\d+ row`),
    );
    expect(html).toContain('<option value="base">');
    expect(html).not.toContain('http-equiv="refresh"');
  });

  it("launches an eval with the rows and rewards of a run, asked as its training asks (A26-A32 b)", async () => {
    const { plane, post } = await open();
    const run = await runningRun(plane, { rollout: { maxTurns: 3, maxTokens: 32, temperature: 0.5 } });
    const asked = { from: run.id, endpoint: "base", name: "MATH", passAt: [1, 4], passThreshold: 0.5 };
    const { status, json } = await post(asked);
    expect(status).toBe(201);
    expect(json).toMatchObject({ name: "MATH", state: "queued", total: 4 * json.spec.dataset.rows });
    expect(json.spec).toMatchObject({
      endpoint: "base",
      rewards: { code: { sha256: expect.any(String) as string } },
      passAt: [{ k: 1 }, { k: 4 }],
      samplesPerRow: 4,
      passThreshold: 0.5,
      rollout: { maxTurns: 3 },
      chatOptions: { max_tokens: 32, temperature: 0.5 },
    });
    // Its id is what `evals:` of a configuration names.
    expect(await plane.json("GET", `/evals/${json.id}`)).toMatchObject({ id: json.id });
  });

  it("takes all of another eval but what the form says, and is led to from its page", async () => {
    const { plane, page, post } = await open();
    const { dataset, rewards } = await preparedSpec(plane);
    const first = {
      endpoint: "base",
      dataset,
      rewards,
      seed: 7,
      name: "old",
      passAt: [{ k: 2, temperature: 0 }],
      samplesPerRow: 2,
    };
    const { id } = await plane.json<EvalRecord>("POST", "/evals", first);
    const { json } = await post({ from: id, endpoint: "base", samplesPerRow: 3 });
    expect(json.spec).toMatchObject({ dataset, seed: 7, passAt: [], samplesPerRow: 3, passThreshold: 1 });
    expect(json.name).toBeUndefined();
    expect(await page(`/ui/evals/${id}`)).toContain(`href="/ui/evals/new?from=${id}"`);
  });

  it("refuses what cannot be, with the key, and strangers", async () => {
    const { plane, post } = await open();
    const { id: from } = await runningRun(plane);
    const { dataset: _rows, evalDataset: _held, rewards: _rewards, ...spec } = await preparedSpec(plane);
    const refusals = [
      [{ from: "run-none", endpoint: "base" }, 404, "not_found", "from"],
      [{ from, endpoint: "none" }, 404, "model_not_found", "endpoint"],
      [{ from, endpoint: "base", passAt: [8], samplesPerRow: 2 }, 400, "invalid_input", "samplesPerRow"],
      [{ from, endpoint: "base", passAt: [0] }, 400, "invalid_input", "passAt.0"],
      [{ from, endpoint: "base", name: "a\nb" }, 400, "invalid_input", "name"],
      [{ from, endpoint: "base", spec }, 400, "unknown_key", "spec"],
    ] as const;
    for (const [body, status, code, where] of refusals) {
      const answer = await post(body);
      expect([answer.status, answer.json]).toMatchObject([status, { error: { code, where } }]);
    }
    expect((await post({ from, endpoint: "base" }, { origin: "https://evil.example" })).status).toBe(403);
    expect((await plane.json<{ items: object[] }>("GET", "/evals")).items).toEqual([]);
  });

  it("offers no run that has no rows with rewards, and says so of its id", async () => {
    const { plane, page, post } = await open();
    const { id } = await runningRun(plane, {
      ...{ kind: "sft", algorithm: { kind: "sft" }, rewards: undefined },
    });
    expect(await page("/ui/evals/new")).not.toContain(`<option value="${id}">run`);
    expect((await post({ from: id, endpoint: "base" })).json).toMatchObject({
      error: { code: "invalid_input", where: "from" },
    });
  });
});
