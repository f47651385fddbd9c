import { describe, expect, it } from "vitest";
import { fakeServer } from "../../fake-server.ts";
import { endpointRecord } from "../../records.ts";
import { runCli } from "../run-cli.ts";

describe("spotter endpoint", () => {
  it("launches and waits until it is ready", async () => {
    let asked = 0;
    const { url, requests } = await fakeServer({
      "POST /endpoints": () => endpointRecord({ state: "creating" }),
      "GET /endpoints/nano": () => endpointRecord({ state: ++asked > 1 ? "ready" : "creating" }),
    });
    const result = await runCli("endpoint launch spotter/nano --checkpoint run1@5 --public", { url });
    expect(result).toMatchObject({
      code: 0,
      out: expect.stringContaining("nano is ready at http://127.0.0.1:7717/v1") as string,
    });
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
      model: { name: "spotter/nano" },
      checkpoint: "run1@5",
      public: true,
    });
    const json = await runCli("endpoint launch spotter/nano --no-wait --json", { url });
    expect(JSON.parse(json.out)).toEqual(endpointRecord({ state: "creating" }));
  });

  it.each([
    ["Write it as name=value", "maxModelLen"],
    ["__proto__ is no name", "__proto__=1"],
    ["__proto__ is no name", 'flags={"a":{"__proto__":1}}'],
    ["nested too deeply", `flags=${"[".repeat(50_000)}${"]".repeat(50_000)}`],
  ])("refuses a setting of an engine: %s", async (message, setting) => {
    const { code, out } = await runCli(`endpoint launch spotter/nano --json --vllm ${setting}`);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      error: { code: "invalid_input", message: expect.stringContaining(message) as string },
    });
  });

  it("asks for hardware and a longest life, and shows what it costs", async () => {
    const spend = { usd: 2, gpuSeconds: 7_200, hourlyUsd: 1 };
    const notes = ["Hardware (2 × L4, spot) is ignored: this machine runs on what it has."];
    const record = endpointRecord({ spend, notes, expiresAtMs: Date.now() + 3_600_500 });
    const { url, requests } = await fakeServer({
      "POST /endpoints": () => record,
      "GET /endpoints/nano": () => record,
    });
    const flags = "--gpu L4 --gpus 2 --spot --max-lifetime 12h";
    const { out } = await runCli(`endpoint launch spotter/nano --no-wait ${flags}`, { url });
    expect(out).toContain(`${notes[0]}\n`);
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
      model: { name: "spotter/nano" },
      hardware: { gpu: "L4", count: 2, spot: true },
      maxLifetimeMs: 43_200_000,
    });
    const shown = (await runCli("endpoint get nano", { url })).out;
    expect(shown).toMatch(
      /spend +\$2\.00 for 7,200 GPU-seconds, now \$1\.00 an hour\nends +in 1h 00m\nnote +Hardware/,
    );
    expect((await runCli("endpoint launch spotter/nano --gpu RTX", { url })).code).toBe(2);
  });

  it("tells how long the cold start took", async () => {
    const replica = {
      jobId: "serve-nano-r1-1",
      state: "ready",
      createdAtMs: 1_000,
      readyAtMs: 1_894,
    } as const;
    const { url } = await fakeServer({
      "POST /endpoints": () => endpointRecord({ replicas: [replica] }),
      "GET /endpoints/nano": () => endpointRecord({ replicas: [replica] }),
    });
    const launch = await runCli("endpoint launch spotter/nano", { url });
    expect(launch.out).toContain("Its cold start took 0.89s.\n");
    expect((await runCli("endpoint get nano", { url })).out).toContain("cold start  0.89s\n");
  });

  it("says at a terminal what it waits for, and leaves only what it came to", async () => {
    let asked = 0;
    const replica = { jobId: "serve-nano-r1-1", createdAtMs: 1 };
    const { url } = await fakeServer({
      "POST /endpoints": () =>
        endpointRecord({ state: "creating", replicas: [{ ...replica, state: "waiting" }] }),
      "GET /endpoints/nano": () =>
        endpointRecord({
          state: ++asked > 2 ? "ready" : "creating",
          replicas: [{ ...replica, state: "loading" }],
        }),
    });
    const { out, err } = await runCli("endpoint launch spotter/nano", { url, isTerminal: true });
    expect(out).toContain("nano is ready at ");
    expect(out).not.toContain("waits for");
    // The clock of this process: a busy machine needs a few milliseconds.
    expect(err).toMatch(/nano waits for capacity, \d{1,3}ms/);
    expect(err.endsWith("\r\u001b[K")).toBe(true);
  });

  it("lists, shows, stops and shows logs", async () => {
    const { url } = await fakeServer({
      "GET /endpoints": () => ({ items: [endpointRecord({ createdAtMs: Date.now() })] }),
      "GET /endpoints/nano": () => endpointRecord({ state: "stopped" }),
      "DELETE /endpoints/nano": () => endpointRecord({ state: "stopping" }),
      "GET /endpoints/nano/logs": () => ({ lines: ["one", "two"] }),
    });
    const list = (await runCli("endpoint list", { url })).out.split("\n");
    expect(list[0]).toMatch(/^NAME {2}STATE {2}SERVES {8}ACCESS {2}CREATED$/);
    expect(list[1]).toMatch(/^nano {2}ready {2}spotter\/nano {2}key {5}\d+ms ago$/);
    expect((await runCli("endpoint get nano", { url })).out).toContain("state     stopped");
    expect((await runCli("endpoint stop nano", { url })).out).toBe("Stopped nano.\n");
    expect((await runCli("endpoint logs nano", { url })).out).toBe("one\ntwo\n");
  });

  it("chats as it streams, from arguments or what is piped in", async () => {
    const chunk = { choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: "stop" }] };
    const { url, requests } = await fakeServer({
      "GET /endpoints/nano": () => endpointRecord(),
      "POST /v1/chat/completions": (_, response) =>
        void response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`),
    });
    const result = await runCli(
      [
        "endpoint",
        "chat",
        "nano",
        "Hi",
        "there",
        "--max-tokens",
        "4",
        "--temperature",
        "0",
        "--system",
        "Be brief.",
      ],
      { url },
    );
    expect(result).toEqual({ code: 0, out: "Hello\n", err: "" });
    expect(JSON.parse(requests.at(-1)?.body ?? "")).toMatchObject({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi there" },
      ],
      max_tokens: 4,
      temperature: 0,
    });
    await runCli("endpoint chat nano", { url, input: "From a pipe\n" });
    expect(JSON.parse(requests.at(-1)?.body ?? "")).toMatchObject({ messages: [{ content: "From a pipe" }] });
    expect((await runCli("endpoint chat nano", { url })).code).toBe(2);
  });
});
