import { describe, expect, it, onTestFinished } from "vitest";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";
import { session } from "../../fakes/session.ts";

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
    for (const part of ["&lt;script&gt;alert(1)", "running", "train", "mean 2,", `${id}@2`])
      expect(html).toContain(part);
    expect(html).toContain('<progress class="steps" max="4" value="2"');
    await job.exit("failed", { code: "numeric_failure", message: "a <NaN>" });
    const ended = await (await plane.app.request(`/ui/runs/${id}`, { headers: { cookie } })).text();
    expect(ended).toContain("numeric_failure");
    expect(ended).not.toContain("<NaN>");
    const list = await (await plane.app.request("/ui", { headers: { cookie } })).text();
    expect(list).toContain("&lt;b&gt;bold");
    expect((await plane.app.request("/ui/runs/nope", { headers: { cookie } })).status).toBe(404);
  });

  it("hold nothing inline, and load nothing but their own files", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id } = await runningRun(plane);
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
    const { cookie } = await session(plane);
    for (const path of ["/ui", `/ui/runs/${id}`, "/ui/endpoints/base", "/ui/nowhere"]) {
      const response = await plane.app.request(path, { headers: { cookie } });
      const html = await response.text();
      expect(html).not.toMatch(
        /<style|<script(?! type="module" src="\/ui\/assets\/)| style=| on[a-z]+=|https?:\/\/(?!127)/,
      );
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      for (const [, file = ""] of html.matchAll(/(?:src|href)="(\/ui\/assets\/[^"]+)"/g)) {
        const asset = await plane.app.request(file);
        expect(asset.status).toBe(200);
        expect(asset.headers.get("cache-control")).toContain("immutable");
        expect((await asset.text()).length).toBeGreaterThan(100);
      }
    }
    expect((await plane.app.request("/ui/assets/0/main.js")).status).toBe(404);
  });

  it("teach where there is nothing to see, and begin at /", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { cookie } = await session(plane);
    const html = await (await plane.app.request("/ui", { headers: { cookie } })).text();
    expect(html).toContain("npm run demo");
    expect(html).toContain("spotter endpoint launch");
    const root = await plane.app.request("/");
    expect([root.status, root.headers.get("location")]).toEqual([302, "/ui"]);
  });
});
