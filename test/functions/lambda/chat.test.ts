import { expect, it, onTestFinished } from "vitest";
import { ENDPOINTS, endpointKey, type EndpointDocument } from "../../../functions/endpoints/records.ts";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { KeyRecord } from "../../../sdk/schema/key.ts";
import { fakeEngine, type FakeEngine } from "../../fakes/engine/engine.ts";
import { deploy, type Deployment } from "../../fakes/lambda-runtime/deploy.ts";
import { askPoet, poet } from "./poet.ts";

// From zero to several replicas and back: test/long/lambda-chat.test.ts.
it("chat functions answer chats that come at once, and count each before they stand still", async () => {
  const stack = await deploy({ maxConcurrency: 2 });
  onTestFinished(() => stack.close());
  const engine = await fakeEngine((end) => onTestFinished(end), poet);
  await putPoet(stack, engine);
  const numbers = Array.from({ length: 6 }, (_, number) => number);
  const answers = await Promise.all(numbers.map((number) => askPoet(stack, number)));
  expect(answers).toEqual(numbers.map((number) => `answer to ${number}`));
  expect((await stack.get("chat")).coldStarts).toBe(2);
  const { items } = (await (await stack.call("keys", "GET", "/keys")).json()) as { items: KeyRecord[] };
  expect(items[0]?.usage).toMatchObject({ requests: 6, promptTokens: 18, completionTokens: 24 });
}, 30_000);

/** An endpoint whose one replica is up, as the reconciler leaves it. */
async function putPoet({ store }: Deployment, { address }: FakeEngine): Promise<void> {
  const createdAtMs = Date.now();
  const heartbeatAtMs = createdAtMs;
  const endpoint: Endpoint = {
    ...{ v: 1, name: "poet", model: { name: "spotter/nano" }, engine: "onnx", public: false },
    ...{ state: "ready", revision: 1, desired: 1, startFailures: 0, createdAtMs, url: "" },
    scaling: { min: 1, max: 1 },
    replicas: [{ jobId: "serve-poet-1", state: "ready", address, createdAtMs, heartbeatAtMs }],
  };
  const document: EndpointDocument = { v: 1, endpoint, launches: 1, revisions: { "serve-poet-1": 1 } };
  await store.put(endpointKey("poet"), document, {
    indexes: [{ index: "live", partition: ENDPOINTS, sort: "poet" }],
  });
}
