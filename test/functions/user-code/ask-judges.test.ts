import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { askJudge } from "../../../functions/user-code/ask-judges.ts";
import { judgeRows } from "../../../functions/user-code/judge.ts";
import { preflightRewards } from "../../../functions/user-code/preflight.ts";
import type { RewardRow } from "../../../sdk/schema/rollout.ts";
import type { RewardSetup } from "../../../sdk/schema/run-spec.ts";
import { openDeps, type OpenDeps } from "./open-deps.ts";

const SOURCE = `
import { reward } from "spotter";
export const kind = reward(async ({ response, judge }) => {
  const [first, second] = await Promise.all([
    judge({ model: "judge", prompt: "kind? " + response.content }),
    judge({ model: "judge", prompt: "short? " + response.content }),
  ]);
  if (first.score === 0) return 0;
  const { score } = await judge({ model: "judge", prompt: "sure? " + response.content });
  return (first.score + second.score + score) / 3;
});
export const plain = reward(async () => 2);
`;

interface Asked {
  key: string | undefined;
  body: { model: string; messages: { content: string }[]; response_format: unknown };
}

let server: Server;
let url = "";
let asked: Asked[] = [];
let reply: (prompt: string) => { status?: number; content?: string; raw?: string } = () => ({});

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const body = JSON.parse(text) as Asked["body"];
      asked.push({ key: request.headers.authorization, body });
      const { status = 200, content = '{"score":1}', raw } = reply(body.messages.at(-1)?.content ?? "");
      const json = { choices: [{ message: { content } }], usage: { total_tokens: 10 } };
      response.writeHead(status, { "retry-after": "0" }).end(raw ?? JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  asked = [];
  reply = () => ({});
});

describe("a reward that asks a model", () => {
  let open: OpenDeps;
  let setup: RewardSetup;
  beforeAll(async () => {
    open = openDeps();
    await open.deps.secrets.set("OPENAI_BASE_URL", url);
    await open.deps.secrets.set("OPENAI_API_KEY", "sk-granted");
    const { code, ...rest } = await open.upload(SOURCE);
    setup = { ...rest, code: { ...code, secrets: ["OPENAI_BASE_URL", "OPENAI_API_KEY"] } };
  });
  afterAll(() => open.close());

  it("goes on with its answers, from an isolate that has no network", async () => {
    reply = (prompt) => ({ content: prompt === "kind? rude" ? '{"score":0}' : '{"score":1}' });
    const verdicts = await judgeRows(open.deps, setup, ["nice", "rude", "nice"].map(row));
    expect(verdicts.map(({ total }) => total)).toEqual([3, 2, 3]);
    // Equal questions once; what only follows from an answer after it.
    expect(asked.map(({ body }) => body.messages[0]?.content).sort()).toEqual([
      "kind? nice",
      "kind? rude",
      "short? nice",
      "short? rude",
      "sure? nice",
    ]);
    expect(asked[0]).toMatchObject({
      key: "Bearer sk-granted",
      body: { model: "judge", response_format: { json_schema: { strict: true } } },
    });
  });

  it("gives no verdict where there is no answer, and keeps the other rewards", async () => {
    reply = () => ({ status: 400 });
    const [verdict] = await judgeRows(open.deps, setup, [row("lost")]);
    expect(verdict?.total).toBeUndefined();
    expect(verdict?.scores["plain"]?.score).toBe(2);
    expect(verdict?.errors["kind"]?.message).toContain("judge: [secret OPENAI_BASE_URL] answered 400");
  });

  it("asks nobody before a launch", async () => {
    const report = await preflightRewards(open.deps, setup, [{ prompt: [], row: {} }]);
    expect(report.warnings).toEqual([]);
    expect(asked).toEqual([]);
  });
});

describe("askJudge", () => {
  const ask = (prompt: string, more = {}) =>
    askJudge(
      { model: "judge", prompt, ...more },
      { secrets: { OPENAI_BASE_URL: url }, spender: `run-${prompt}`, sleep: () => Promise.resolve() },
    );

  it("asks a busy server again", async () => {
    let times = 0;
    reply = () => ({ status: ++times < 3 ? 503 : 200 });
    expect(await ask("busy")).toEqual({ value: { score: 1 } });
    expect(asked.length).toBe(3);
  });

  it("spends no more than the budget of a run", async () => {
    const secrets = { OPENAI_BASE_URL: url };
    const answers = [];
    for (const prompt of ["one", "two", "three"])
      answers.push(
        await askJudge(
          { model: "judge", prompt, budget: { tokens: 20 } },
          { secrets, spender: "run-of-little-money" },
        ),
      );
    expect(answers).toEqual([
      { value: { score: 1 } },
      { value: { score: 1 } },
      { error: "the budget is spent: 2 calls and 20 tokens" },
    ]);
  });

  it.each([
    ["not JSON", { content: "I think so." }, "the answer is no JSON object: I think so."],
    ["no object", { content: "1" }, "the answer is no JSON object: 1"],
    ["of other keys", { content: '{"verdict":1}' }, "the answer does not fit the schema: score is missing"],
    [
      "out of bounds",
      { content: '{"score":7}' },
      "the answer does not fit the schema: score is 7, expected 0 or 1",
    ],
  ])("says that an answer is %s", async (prompt, said, error) => {
    reply = () => said;
    expect(await ask(prompt)).toEqual({ error });
  });

  it.each(["", "null", "[]", "<html>", '{"choices":[null]}', '{"choices":[],"usage":{"total_tokens":"9"}}'])(
    "says that %j is no chat completion",
    async (raw) => {
      reply = () => ({ raw });
      expect(await ask(`raw ${raw}`)).toEqual({
        error: `${url} answered with something that is no chat completion: ${raw}`,
      });
    },
  );

  it("takes a null for what a server has nothing to say of", async () => {
    reply = () => ({ raw: '{"choices":[{"message":{"content":"{\\"score\\":0}"}}],"usage":null}' });
    expect(await ask("null")).toEqual({ value: { score: 0 } });
  });

  it("refuses what is no question, and asks nobody without a grant", async () => {
    expect(await ask("x", { prompts: "y" })).toEqual({ error: expect.stringContaining("prompts") as string });
    const alone = await askJudge({ model: "judge", prompt: "x" }, { secrets: {}, spender: "run-1" });
    expect(alone).toEqual({ error: expect.stringContaining("OPENAI_API_KEY") as string });
    expect(asked).toEqual([]);
  });
});

function row(content: string): RewardRow {
  return {
    row: {},
    metadata: {},
    variables: {},
    messages: [],
    response: { content, reasoning: "", toolCalls: [] },
    completion: { tokens: 1, finishReason: "stop" },
  };
}
