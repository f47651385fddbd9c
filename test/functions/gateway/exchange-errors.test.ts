import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { OpenAiErrorBody } from "../../../sdk/schema/chat.ts";
import { HANG, jsonReply, RESET, type Reply, type Script } from "../../fakes/engine/engine.ts";
import { sglangError } from "../../fakes/engine/sglang.ts";
import { vllmFlatError, vllmStream } from "../../fakes/engine/vllm.ts";
import { FREE, HOSTS, served, type Served, type ServedParams } from "../../fakes/served.ts";

const STREAM = { stream: true };
const fine: Script = ({ body }) =>
  body["stream"] === true ? { steps: vllmStream(["a"]) } : jsonReply('{"ok":true}');

function serve(scripts: Script[], more: Partial<ServedParams> = {}): Promise<Served> {
  return served({ onEnd: onTestFinished, scripts, ...more });
}

async function errorOf(response: Response): Promise<OpenAiErrorBody["error"]> {
  return ((await response.json()) as OpenAiErrorBody).error;
}

/** Asks with its turn: the first request of each body fails, whichever replica has it. */
function failsFirst(bad: Reply): Script {
  let asked = 0;
  return (request) => (asked++ === 0 ? bad : fine(request));
}

describe.each(HOSTS)("through the %s", (host) => {
  it("E23 answers 503 with Retry-After when no replica came up in time", async () => {
    const gym = await serve([fine], { isUp: false, scaling: { holdMs: 20_000 } });
    const answer = gym.chat(host);
    await vi.waitFor(() => expect(gym.load().queued).toBe(1));
    await gym.pass(20);
    const response = await answer;
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await errorOf(response)).toMatchObject({
      type: "server_error",
      code: "model_loading",
      param: "model",
    });
    expect(gym.load()).toEqual(FREE);
    expect(gym.records).toMatchObject([{ status: 503, code: "endpoint_not_ready" }]);
  });

  it("E23 answers at once where no wait is allowed", async () => {
    const gym = await serve([fine], { isUp: false, scaling: { holdMs: 0 } });
    expect((await gym.chat(host)).status).toBe(503);
    expect(gym.load()).toEqual(FREE);
  });

  it("E23 answers, once one came up, with how long that took and that it was a cold start", async () => {
    const gym = await serve([fine], { isUp: false });
    const answer = gym.chat(host);
    await vi.waitFor(() => expect(gym.load().queued).toBe(1));
    await gym.pass(3);
    await gym.bringUp(1);
    const { headers } = await answer;
    expect(headers.get("x-spotter-queue-ms")).toBe("3000");
    expect(headers.get("x-spotter-cold-start")).toBe("true");
  });

  it("E24 answers 429 with Retry-After when the queue is full", async () => {
    const gym = await serve([() => ({ steps: [HANG] })], {
      scaling: { targetConcurrency: 1, queueLimit: 1 },
    });
    const abort = new AbortController();
    const { signal } = abort;
    const waiting = [0, 1].map(() => gym.chat("node", STREAM, { signal }).catch(() => undefined));
    await vi.waitFor(() => expect(gym.load()).toEqual({ inFlight: 1, queued: 1 }));
    const response = await gym.chat(host, STREAM);
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeLessThanOrEqual(60);
    expect(response.headers.get("x-should-retry")).toBeNull();
    expect(await errorOf(response)).toMatchObject({ type: "server_error", code: "queue_full", param: null });
    abort.abort();
    await Promise.all(waiting);
    await vi.waitFor(() => expect(gym.load()).toEqual(FREE));
  });

  it.each([
    ["resets", STREAM, { steps: [RESET] }],
    ["resets a JSON answer halfway", {}, { type: "application/json", steps: ['{"id":', RESET] }],
    ["ends a stream before its first event", STREAM, { steps: ["data: {"] }],
  ] as [string, object, Reply][])(
    "E25 asks another replica when one %s, and only once",
    async (_how, body, bad) => {
      const once = failsFirst(bad);
      const gym = await serve([once, once]);
      expect((await gym.chat(host, body)).status).toBe(200);
      expect(gym.engines.map(({ requests }) => requests.length)).toEqual([1, 1]);
      await vi.waitFor(() => expect(gym.load()).toEqual(FREE));
    },
  );

  it("E25 answers 502 with Retry-After when two replicas refused", async () => {
    const gym = await serve([fine, fine, fine]);
    await Promise.all(gym.engines.map((engine) => engine.die()));
    for (const body of [{}, STREAM]) {
      const response = await gym.chat(host, body);
      expect(response.status).toBe(502);
      expect(response.headers.get("retry-after")).toBe("5");
      expect(await errorOf(response)).toMatchObject({ type: "server_error", code: "upstream_error" });
    }
    expect(gym.load()).toEqual(FREE);
    expect(gym.records).toMatchObject([
      { status: 502, code: "container_failed" },
      { status: 502, code: "container_failed" },
    ]);
  });

  it("E26 answers 504, not to be retried, when a replica says nothing for ten minutes", async () => {
    const gym = await serve([() => ({ type: "application/json", steps: [HANG] })]);
    const answer = gym.chat(host);
    await vi.waitFor(() => expect(gym.engines[0]?.working).toBe(1));
    gym.plane.clock.advance(600_000);
    const response = await answer;
    expect(response.status).toBe(504);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await errorOf(response)).toMatchObject({ type: "server_error", code: "upstream_timeout" });
    await vi.waitFor(() => expect(gym.engines[0]?.working).toBe(0));
    expect(gym.load()).toEqual(FREE);
  });

  it("E27 answers 503, not to be retried, when the endpoint ends while somebody waits", async () => {
    const gym = await serve([fine], { isUp: false });
    const answers = [gym.chat(host), gym.chat(host, STREAM)];
    await vi.waitFor(() => expect(gym.load().queued).toBe(2));
    await gym.plane.json("DELETE", "/endpoints/base");
    for (const response of await Promise.all(answers)) {
      expect(response.status).toBe(503);
      expect(response.headers.get("x-should-retry")).toBe("false");
      expect(await errorOf(response)).toMatchObject({ code: "endpoint_failed", param: "model" });
    }
    expect(gym.load()).toEqual(FREE);
  });

  it("E28 tells no details of a bug, and logs them", async () => {
    const gym = await serve([fine]);
    gym.plane.control.slots.enter = () => {
      throw new TypeError("secret detail");
    };
    const response = await gym.chat(host);
    expect(response.status).toBe(500);
    const error = await errorOf(response);
    expect(error).toMatchObject({ type: "server_error", code: "internal_error" });
    expect(error.message).not.toContain("secret detail");
    expect(gym.plane.complaints.join()).toContain("secret detail");
  });

  it("E29 S19 wraps engines' errors again and keeps their status, also where a stream was asked for", async () => {
    const bodies: [number, string][] = [
      [500, vllmFlatError("boom", 500, "InternalServerError")],
      [400, sglangError("bad", 400)],
      [422, '{"detail":[{"loc":["body","n"],"msg":"no","type":"x"}]}'],
      [503, "upstream connect error"],
    ];
    let next = 0;
    const gym = await serve([
      () => {
        const [status, text] = bodies[next >> 1] ?? [500, ""];
        next++;
        return { ...jsonReply(text, status), headers: { "retry-after": "3" } };
      },
    ]);
    for (const [status] of bodies) {
      for (const body of [{}, STREAM]) {
        const response = await gym.chat(host, body);
        expect(response.status).toBe(status);
        expect(response.headers.get("content-type")).toContain("application/json");
        expect(response.headers.get("retry-after")).toBe("3");
        expect(response.headers.get("x-request-id")).toBeTruthy();
        const error = await errorOf(response);
        expect(error.message).toBeTypeOf("string");
        expect(error.type).toBe(status >= 500 ? "server_error" : "invalid_request_error");
      }
    }
    expect(gym.load()).toEqual(FREE);
  });
});
