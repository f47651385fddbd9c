import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createUpstreams, type UpstreamHandler } from "../../../functions/gateway/upstream.ts";
import { fakeEngine, jsonReply } from "../../fakes/engine/engine.ts";

function upstreams() {
  const made = createUpstreams();
  onTestFinished(() => made.close());
  return made;
}

/** What the handler heard, in order. */
function listening(): { heard: string[]; handler: UpstreamHandler } {
  const heard: string[] = [];
  return {
    heard,
    handler: {
      onRequestStart: () => void heard.push("begun"),
      onResponseStart: (_controller, status) => void heard.push(String(status)),
      onResponseData: (_controller, chunk) => void heard.push(chunk.toString()),
      onResponseEnd: () => void heard.push("end"),
      onResponseError: (_controller, error) =>
        void heard.push(`error ${(error as NodeJS.ErrnoException).code}`),
      failed: (error) => void heard.push(`failed ${String(error)}`),
    },
  };
}

describe("the way to replicas", () => {
  it("sends the body as it is, with the headers it is given, the first time as well", async () => {
    const engine = await fakeEngine(onTestFinished, () => jsonReply("{}"));
    const ways = upstreams();
    for (const body of ['{"a":1}', '{"a":"é"}']) {
      const { heard, handler } = listening();
      const headers = ["content-type", "application/json", "x-request-id", "r1"];
      ways.send({ address: engine.address, path: "/v1/x", body: Buffer.from(body), headers }, handler);
      await vi.waitFor(() => expect(heard).toEqual(["begun", "200", "{}", "end"]));
      expect(engine.requests.at(-1)).toMatchObject({
        path: "/v1/x",
        text: body,
        headers: { "x-request-id": "r1" },
      });
    }
  });

  it("E25 tells of a replica that refuses", async () => {
    const engine = await fakeEngine(onTestFinished, () => jsonReply("{}"));
    await engine.die();
    const { heard, handler } = listening();
    upstreams().send({ address: engine.address, path: "/", body: "{}", headers: [] }, handler);
    await vi.waitFor(() => expect(heard).toEqual(["error ECONNREFUSED"]));
  });

  it("knows a replica that lists its models from one that does not", async () => {
    const good = await fakeEngine(onTestFinished, ({ headers, path }) =>
      jsonReply("{}", headers.authorization === "Bearer k" && path === "/v1/models" ? 200 : 401),
    );
    const ways = upstreams();
    expect(await ways.probe(good.address, "k")).toBe(true);
    expect(await ways.probe(good.address, "other")).toBe(false);
    await good.die();
    expect(await ways.probe(good.address, "k")).toBe(false);
  });
});
