import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkerdIsolates } from "../../../functions/local/workerd-isolates/index.ts";
import { TEMPLATES } from "../../../sdk/config/project-folder/templates/index.ts";
import { ADMIN_KEY, testPlane } from "../../fakes/control-plane.ts";
import { runCli } from "../cli/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "spotter-templates-"));
const ends: (() => Promise<void>)[] = [];
let url = "";

/** One control plane with real isolates for all of them. */
beforeAll(async () => {
  const isolates = createWorkerdIsolates({ workDir: join(folder, "isolates") });
  const plane = await testPlane({ isolates, onEnd: (end) => ends.push(end) });
  const server = createAdaptorServer({ fetch: plane.app.fetch }) as Server;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  ends.push(async () => isolates.close());
  ends.push(async () => void server.close());
});

afterAll(async () => {
  for (const end of ends.toReversed()) await end();
  rmSync(folder, { recursive: true });
});

describe.each(Object.keys(TEMPLATES))("template %s", (name) => {
  const dir = join(folder, name);

  it("passes test --model mock", async () => {
    expect((await runCli(["init", "-d", dir, "--template", name])).code).toBe(0);
    const words = ["test", "-d", dir, "-n", "3", "--model", "mock", "--json"];
    const { code, out, err } = await runCli(words, { url, key: ADMIN_KEY });
    expect([code, err], out).toEqual([0, ""]);
    const { rollouts, summary } = JSON.parse(out) as {
      rollouts: { turns: number; toolErrors: string[] }[];
      summary: object;
    };
    expect(summary).toMatchObject({ rollouts: 3, failed: 0, invalid: 0 });
    expect(rollouts.flatMap(({ toolErrors }) => toolErrors)).toEqual([]);
  });
});

/** What came of one row of a template, played without a model. */
async function played(name: string): Promise<object[]> {
  const words = ["-d", join(folder, name), "--entry", "0", "--model", "mock", "--verbose", "--json"];
  const { out } = await runCli(["test", ...words], { url, key: ADMIN_KEY });
  return (JSON.parse(out) as { rollouts: object[] }).rollouts;
}

it("plays the tools of a template in isolates", async () => {
  expect(await played("tools")).toMatchObject([
    {
      reward: 1.2,
      rewards: { accuracy: 1, asked: 1 },
      turns: 2,
      conversation: [
        { role: "user" },
        { role: "assistant", tool_calls: [{ function: { name: "stock" } }] },
        { role: "tool", content: '{"item":"example","count":0}' },
        { role: "assistant", content: "12" },
      ],
    },
  ]);
});

it("tells of the rewards of the math template that right answers get 1 and empty ones 0", async () => {
  const words = ["test", "-d", join(folder, "math"), "--rewards-only", "--json"];
  const { code, out } = await runCli(words, { url, key: ADMIN_KEY });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    rows: 40,
    rowsWithAnswer: 40,
    rewards: [{ name: "accuracy", invalid: 0, expected: { n: 40, mean: 1 }, empty: { n: 40, mean: 0 } }],
  });
});

it("lets nobody win the game of a template by a pile that is not on the table", async () => {
  // The mock takes the last stone of a pile of one, where five are on the table.
  expect(await played("game")).toMatchObject([
    {
      reward: 0,
      rewards: { won: 0, legal: 0 },
      conversation: [
        { role: "user" },
        { tool_calls: [{ function: { arguments: '{"pile":1,"stones":1}' } }] },
        { role: "tool", content: '{"pile":0,"winner":"you"}' },
        { role: "assistant" },
      ],
    },
  ]);
});

describe("the judge of a template", () => {
  const test = (...words: string[]) =>
    runCli(["test", "-d", join(folder, "judge"), ...words], { url, key: ADMIN_KEY });

  it("is asked about every answer, also where the mock judges: verdicts that fit, always the same", async () => {
    const { code, out } = await test("--all", "--model", "mock", "--json");
    expect(code).toBe(0);
    const { judge, rollouts } = JSON.parse(out) as {
      judge: object;
      rollouts: { rewards: Record<string, number> }[];
    };
    expect(judge).toEqual({ model: "mock", asked: 8 });
    const scores = rollouts.map(({ rewards }) => rewards["explains"]);
    for (const score of scores) expect([0, 0.25, 0.5, 0.75, 1]).toContain(score);
    // The questions differ, and so do verdicts: a reward that reads another key would give all the same.
    expect(new Set(scores).size).toBeGreaterThan(2);
    const again = JSON.parse((await test("--all", "--model", "mock", "--json")).out) as typeof JSON;
    expect(again).toMatchObject({ rollouts: rollouts.map(({ rewards }) => ({ rewards })) });
    expect((await test("-n", "1", "--model", "mock")).out).toContain(
      "The mock answered 1 question of rewards to a judge",
    );
  });

  it("is a real one where its secrets are granted", async () => {
    const granted = await test("--entry", "0", "--model", "mock", "--secret", "OPENAI_API_KEY", "--json");
    expect(granted.code).not.toBe(0);
    expect(granted.out).toContain("OPENAI_API_KEY");
  });
});
