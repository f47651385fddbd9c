import { expect, it } from "vitest";
import { fakeServer, type Handler } from "../fake-server.ts";
import { checkpointRecord, endpointRecord, runDetailOf, runRecord } from "../records.ts";
import { runCli } from "./run-cli.ts";

/** Clears the screen, sets the title, goes a line up, turns the direction of what follows. */
const EVIL = "x\u001b[2J\u001b]0;owned\u0007\u009b1A\u202e";
const MOVES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const chunk = {
  id: "1",
  object: "chat.completion.chunk",
  created: 1,
  model: "nano",
  choices: [{ index: 0, delta: { content: EVIL }, finish_reason: "stop" }],
};
const answers: Record<string, Handler> = {
  "GET /endpoints/nano": () => endpointRecord({ model: { name: EVIL }, url: EVIL }),
  "GET /endpoints": () => ({ items: [endpointRecord({ name: EVIL })] }),
  "POST /endpoints": () => endpointRecord({ name: EVIL, url: EVIL }),
  "GET /endpoints/nano/logs": () => ({ lines: [EVIL] }),
  "GET /runs": () => ({ items: [runRecord({ name: EVIL, model: EVIL })] }),
  "GET /runs/run1": () => runDetailOf({ name: EVIL, notes: EVIL, tags: [EVIL], metrics: { [EVIL]: 1 } }),
  "GET /runs/run1/checkpoints": () => ({ items: [checkpointRecord(10, { path: EVIL })] }),
  "PATCH /runs/run1": () => ({}),
  "GET /keys": () => ({ items: [{ v: 1, id: "k", name: EVIL, scope: "chat", createdAtMs: 1 }] }),
  "GET /secrets": () => ({ names: [EVIL] }),
  "GET /models": () => ({ items: [] }),
  "DELETE /models/m": () => ({ name: EVIL, sha256: "0".repeat(64), bytes: 0, keptFor: EVIL }),
  "POST /cleanup": () => ({
    dryRun: false,
    bytes: 1,
    items: [{ kind: "dataset", name: EVIL, bytes: 1, reason: EVIL }],
  }),
  "POST /v1/chat/completions": (_, response) =>
    void response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`),
};

it.each([
  "endpoint get nano",
  "endpoint list",
  "endpoint launch spotter/nano --no-wait",
  "endpoint logs nano",
  "endpoint chat nano hello",
  "run list",
  "run get run1",
  "run get run1 --json",
  "run tag run1",
  "run note run1 x",
  "checkpoint list run1",
  "key list",
  "key list --json",
  "secret list",
  "model delete m",
  "cleanup",
])("%s prints names from elsewhere and moves nothing", async (line) => {
  const { url } = await fakeServer(answers);
  const { code, out, err } = await runCli(line, { url, isTerminal: true, env: { NO_COLOR: "1" } });
  expect([code, err]).toEqual([0, expect.not.stringMatching(MOVES)]);
  expect(out).toContain("x");
  expect(out).not.toMatch(MOVES);
});
