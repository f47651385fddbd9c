import { describe, expect, it, onTestFinished } from "vitest";
import { askTeacher } from "../../../functions/teachers/ask.ts";
import { fakeEngine, HANG, type FakeEngine, type Reply } from "../../fakes/engine/engine.ts";

const question = { kind: "score" as const, sequences: [[5, 6]] };
const json = (status: number, body: unknown): Reply => ({
  status,
  type: "application/json",
  steps: [JSON.stringify(body)],
});
const graded = json(200, {
  choices: [{ index: 0, logprobs: { tokens: ["", ""], token_logprobs: [null, -2] } }],
});

async function teacher(reply: Reply): Promise<FakeEngine> {
  return fakeEngine(onTestFinished, () => reply);
}

function ask({ address }: Pick<FakeEngine, "address">, timeoutMs = 5_000) {
  const target = { baseUrl: `http://${address}/v1/`, model: "sage", authorization: "Bearer hush-hush" };
  const redact = (text: string) => text.replaceAll("hush-hush", "[redacted]");
  return askTeacher(target, question, { signal: new AbortController().signal, redact, timeoutMs });
}

describe("asking a teacher over HTTP", () => {
  it("posts a completion with its key", async () => {
    const engine = await teacher(graded);
    expect(await ask(engine)).toEqual({ sequences: [{ ids: [5, 6], logprobs: [0, -2] }] });
    expect(engine.requests[0]).toMatchObject({
      path: "/v1/completions",
      headers: { authorization: "Bearer hush-hush" },
      body: { model: "sage", prompt: [[5, 6]], echo: true },
    });
  });

  it("gives up on one whose answer has no end", async () => {
    const engine = await teacher({
      status: 200,
      type: "application/json",
      steps: Array.from({ length: 66 }, () => "x".repeat(1024 * 1024)),
    });
    await expect(ask(engine)).rejects.toMatchObject({
      code: "teacher_failed",
      message: "The teacher answered with more than 67108864 bytes.",
    });
  });

  it.each([429, 502, 503, 504])("waits for one that answers %i", async (status) => {
    const engine = await teacher(
      json(status, { error: { message: "still starting", code: "endpoint_not_ready" } }),
    );
    expect(await ask(engine)).toEqual({ waiting: "still starting" });
  });

  it("waits for one that says nothing, or is not there", async () => {
    expect(await ask(await teacher({ steps: [HANG] }), 50)).toEqual({ waiting: "no answer within 0 s" });
    const gone = await teacher(graded);
    await gone.die();
    expect(await ask(gone)).toEqual({ waiting: expect.stringContaining("ECONNREFUSED") as string });
  });

  it.each([
    [
      401,
      { error: { message: "wrong key hush-hush" } },
      "teacher_failed",
      "answered 401: wrong key [redacted]",
    ],
    [
      400,
      { error: { message: "too long", code: "context_length_exceeded" } },
      "context_length_exceeded",
      "too long",
    ],
    [
      503,
      { error: { message: "gone for good", code: "endpoint_failed" } },
      "endpoint_failed",
      "gone for good",
    ],
    // A redirect is not followed: whoever has the key must be the one that it was given for.
    [302, "", "teacher_failed", "answered 302"],
    [404, "<html>", "teacher_failed", "404: "],
  ])("gives up on one that answers %i", async (status, body, code, message) => {
    const reply = { ...json(status, body), headers: { location: "http://elsewhere.test/" } };
    await expect(ask(await teacher(reply))).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message) as string,
    });
  });
});
