import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { fakeServer, sendError } from "./fake-server.ts";
import { endpointRecord, runDetailOf } from "./records.ts";

const script = fileURLToPath(new URL("../fixtures/sdk/exit.ts", import.meta.url));

describe("a script that uses the SDK", () => {
  it("ends within 200 ms of its last await (78, js-genai#675)", async () => {
    let asked = 0;
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const choice = { index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello" } };
    const { url } = await fakeServer({
      "GET /endpoints/nano": (_, response) =>
        ++asked === 1 ? sendError(response, 503, "capacity", "Later.") : endpointRecord(),
      "GET /runs/run1": () => runDetailOf(),
      "GET /runs/run1/events": () => ({
        events: [{ seq: 1, atMs: 1, body: { type: "log", level: "info", message: "x" } }],
        next: 1,
        done: false,
      }),
      "POST /v1/chat/completions": ({ body }, response) => {
        if (!body.includes('"stream":true')) return { choices: [choice], usage };
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write('data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n');
      },
    });
    const child = spawn(process.execPath, ["--no-warnings", script], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, FAKE_URL: url },
    });
    const [[output], [code]] = (await Promise.all([once(child.stdout, "data"), once(child, "exit")])) as [
      [Buffer],
      [number],
    ];
    expect(code).toBe(0);
    expect(Number(output.toString())).toBeLessThan(200);
  });
});
