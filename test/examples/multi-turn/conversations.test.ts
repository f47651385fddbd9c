import { describe, expect, it } from "vitest";
import { Conversations } from "../../../examples/multi-turn/conversations.ts";
import { Client, Endpoint } from "../../../sdk/index.ts";
import { endpointRecord } from "../../sdk/records.ts";
import { fakeServer } from "../../sdk/fake-server.ts";

describe("conversations", () => {
  it("asks the endpoint once for each topic, and puts both questions into the prompt", async () => {
    const { url, requests } = await fakeServer({
      "POST /v1/chat/completions": ({ body }) => {
        const { messages } = JSON.parse(body) as { messages: { content: string }[] };
        const message = { role: "assistant", content: `said: ${messages[0]?.content}` };
        const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
        return { choices: [{ index: 0, finish_reason: "stop", message }], usage };
      },
    });
    const endpoint = new Endpoint(new Client({ url, key: "k" }), endpointRecord());
    const rows = await new Conversations(endpoint, ["rain", "snow"]).load();
    expect(requests).toHaveLength(2);
    expect(JSON.parse(requests[0]?.body ?? "")).toMatchObject({ temperature: 0 });
    expect(rows.map(({ row }) => row.topic)).toEqual(["rain", "snow"]);
    expect(rows[1]?.prompt).toEqual([
      { role: "user", content: "Say snow." },
      { role: "assistant", content: "said: Say snow." },
      { role: "user", content: "Write a haiku about it." },
    ]);
  });
});
