import { describe, expect, it, onTestFinished } from "vitest";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";

async function session(
  plane: TestPlane,
  to = "/ui",
): Promise<{ cookie: string; response: Response; url: URL }> {
  const { url } = await plane.json<{ url: string }>("POST", "/ui-codes", { to });
  const response = await plane.app.request(url);
  const cookie = response.headers.get("set-cookie") ?? "";
  return { cookie: cookie.split(";")[0] ?? "", response, url: new URL(url) };
}

describe("pages", () => {
  it("open with a one-time code, which works once and for a minute", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { cookie, response, url } = await session(plane, "/ui/runs/run-1");
    expect(response.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict/);
    expect(await response.text()).toContain('content="0;url=/ui/runs/run-1"');
    expect((await plane.app.request("/ui", { headers: { cookie } })).status).toBe(200);
    expect((await plane.app.request(url)).status).toBe(401);
    const late = await plane.json<{ url: string }>("POST", "/ui-codes", {});
    plane.clock.advance(61_000);
    expect((await plane.app.request(late.url)).status).toBe(401);
  });

  it("without a session say what to do", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const response = await plane.app.request("/ui", { headers: { cookie: "spotter_session=guess" } });
    expect(response.status).toBe(401);
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(await response.text()).toContain("spotter open");
  });

  it("do not lead to other places, and a key does not open them", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    for (const to of ["https://evil.example", "//evil.example", '/ui/"><script>', "/uix"]) {
      const { response } = await session(plane, to);
      expect(await response.text()).toContain('content="0;url=/ui"');
    }
    expect((await plane.call("GET", "/ui")).status).toBe(401);
  });

  it("of a run show where it is and what it says, all of it escaped", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane, { name: "<b>bold</b>" });
    await job.report({ type: "run", event: { type: "phase", phase: "train" } });
    await job.report({
      type: "run",
      event: { type: "metrics", step: 2, metrics: { "reward<i>": -1.23456 } },
    });
    const rollout = {
      ...{
        step: 2,
        index: 0,
        group: 0,
        row: {},
        tokenIds: [1],
        mask: [1],
        logprobs: [0],
        finishReason: "stop",
      },
      messages: [{ role: "user", content: "Write & <sing>" }],
      text: "<script>alert(1)</script>",
      verdict: { total: 2, scores: {}, errors: {} },
    };
    await job.call("POST", "/rollouts", { attempt: 1, step: 2, rollouts: [rollout] });
    await job.save(2);
    const { cookie } = await session(plane);
    const page = await plane.app.request(`/ui/runs/${id}`, { headers: { cookie } });
    const html = await page.text();
    expect(html).not.toMatch(/<b>|<script>alert|<i>|<sing>/);
    for (const part of ["&#60;script&#62;alert(1)", "running", "train", "-1.235", "reward 2", `${id}@2`])
      expect(html).toContain(part);
    expect(html).toContain('<progress max="4" value="2">');
    const csp = page.headers.get("content-security-policy") ?? "";
    const nonce = /script-src 'nonce-([0-9a-f]+)'/.exec(csp)?.[1] ?? "none";
    expect(html.match(/<script nonce="([0-9a-f]+)">/)?.[1]).toBe(nonce);
    expect(csp).toContain("default-src 'none'");
    await job.exit("failed", { code: "numeric_failure", message: "a <NaN>" });
    const ended = await (await plane.app.request(`/ui/runs/${id}`, { headers: { cookie } })).text();
    expect(ended).toContain("numeric_failure");
    expect(ended).not.toContain("<script");
    const list = await (await plane.app.request("/ui", { headers: { cookie } })).text();
    expect(list).toContain("&#60;b&#62;bold");
    expect((await plane.app.request("/ui/runs/nope", { headers: { cookie } })).status).toBe(404);
  });
});
