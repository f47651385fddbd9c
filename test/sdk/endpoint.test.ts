import { describe, expect, it } from "vitest";
import { Endpoint } from "../../sdk/endpoint.ts";
import { fakeServer, sendError } from "./fake-server.ts";
import { endpointRecord } from "./records.ts";

describe("Endpoint.launch", () => {
  it("sends the model, the checkpoint and only the options that were given", async () => {
    const { client, requests } = await fakeServer({ "POST /endpoints": () => endpointRecord() });
    const endpoint = await Endpoint.launch("spotter/nano", { checkpoint: { id: "run1@5" } as never, client });
    expect([endpoint.name, endpoint.url]).toEqual(["nano", "http://127.0.0.1:7717/v1"]);
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
      model: { name: "spotter/nano" },
      checkpoint: "run1@5",
    });
  });

  it("names unknown and wrong options before anything is sent", async () => {
    const { client, requests } = await fakeServer();
    const params = { recrate: true, public: "yes", client } as never;
    await expect(Endpoint.launch("spotter/nano", params)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(
        /public: is a string[^]*recrate: unknown key; did you mean "recreate"/,
      ) as string,
    });
    expect(requests).toEqual([]);
  });
});

describe("Endpoint.list", () => {
  it("reads page by page", async () => {
    const { client } = await fakeServer({
      "GET /endpoints": ({ query }) =>
        query.after
          ? { items: [endpointRecord({ name: "b" })] }
          : { items: [endpointRecord({ name: "a" })], next: "1" },
    });
    expect((await Endpoint.list({ client })).map((endpoint) => endpoint.name)).toEqual(["a", "b"]);
  });
});

describe("endpoint.waitUntilReady", () => {
  it("asks until a replica is ready", async () => {
    let asked = 0;
    const { client } = await fakeServer({
      "GET /endpoints/nano": () => endpointRecord({ state: ++asked > 2 ? "ready" : "creating" }),
    });
    const endpoint = new Endpoint(client, endpointRecord({ state: "creating" }));
    expect((await endpoint.waitUntilReady()).state).toBe("ready");
  });

  it("throws the reason and the log when it fails", async () => {
    const failure = {
      code: "model_not_found",
      message: "No such model.",
      hint: "Check it.",
      logTail: ["line 9"],
    };
    const { client } = await fakeServer({
      "GET /endpoints/nano": () => endpointRecord({ state: "failed", failure }),
    });
    const waiting = new Endpoint(client, endpointRecord()).waitUntilReady();
    await expect(waiting).rejects.toMatchObject({
      code: "endpoint_failed",
      message: "The endpoint nano failed: No such model. [model_not_found]\n  | line 9",
      hint: "Check it.",
    });
  });

  it("ends at the deadline, on a stop and on abort", async () => {
    const { client, handlers } = await fakeServer({
      "GET /endpoints/nano": () => endpointRecord({ state: "creating" }),
    });
    const endpoint = new Endpoint(client, endpointRecord());
    await expect(endpoint.waitUntilReady({ timeoutMs: 30 })).rejects.toMatchObject({ code: "timeout" });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(endpoint.waitUntilReady({ signal })).rejects.toThrow("enough");
    handlers["GET /endpoints/nano"] = () => endpointRecord({ state: "stopped" });
    await expect(endpoint.waitUntilReady()).rejects.toMatchObject({ code: "endpoint_failed" });
  });
});

describe("endpoint.update and endpoint.stop", () => {
  it("changes in place", async () => {
    const { client, requests } = await fakeServer({
      "PATCH /endpoints/nano": () => endpointRecord({ public: true }),
    });
    const endpoint = await new Endpoint(client, endpointRecord()).update({ public: true });
    expect(endpoint.record.public).toBe(true);
    expect(requests[0]?.body).toBe('{"public":true}');
  });

  it("refuses to launch what is no model", async () => {
    const { client, requests } = await fakeServer();
    await expect(Endpoint.launch(null as never, { client })).rejects.toMatchObject({ code: "invalid_input" });
    expect(requests).toEqual([]);
  });

  it("waits until the replicas are gone, and takes a missing endpoint for stopped", async () => {
    let asked = 0;
    const { client } = await fakeServer({
      "DELETE /endpoints/nano": () => ({}),
      "GET /endpoints/nano": (_, response) => {
        if (++asked < 3) return endpointRecord({ state: "stopping" });
        sendError(response, 404, "not_found", "Gone.");
      },
    });
    await new Endpoint(client, endpointRecord()).stop();
    expect(asked).toBe(3);
    await new Endpoint(client, endpointRecord({ name: "other" })).stop();
  });
});

describe("scaling", () => {
  it("goes along with a launch and with an update", async () => {
    const { client, requests } = await fakeServer({
      "POST /endpoints": () => endpointRecord(),
      "PATCH /endpoints/nano": () => endpointRecord(),
    });
    const endpoint = await Endpoint.launch("spotter/nano", { scaling: { min: 0 }, client });
    await endpoint.update({ scaling: { max: 3 } });
    expect(requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { model: { name: "spotter/nano" }, scaling: { min: 0 } },
      { scaling: { max: 3 } },
    ]);
  });

  it("is checked before anything is sent", async () => {
    const { client, requests } = await fakeServer();
    const endpoint = new Endpoint(client, endpointRecord());
    const wrong = { scaling: { maximum: 3, min: -1 } } as never;
    await expect(endpoint.update(wrong)).rejects.toMatchObject({ code: "invalid_input" });
    expect(requests).toEqual([]);
  });
});
