import { describe, expect, it, onTestFinished } from "vitest";
import type { DatasetRecord } from "../../../sdk/schema/dataset.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { datasetHead } from "../../../functions/datasets/datasets.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";

const row = (topic: string) => JSON.stringify({ prompt: [{ role: "user", content: topic }], row: { topic } });

async function put(plane: TestPlane, body: string | Uint8Array, hash = sha256Of(body)): Promise<Response> {
  return plane.call("PUT", `/datasets/${hash}?name=topics`, body);
}

async function errorOf(response: Response) {
  return ((await response.json()) as { error: { code: string; message: string; where?: string } }).error;
}

describe("datasets", () => {
  it("are stored under their hash, with their rows counted", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const body = `${row("雨")}\n\n${row("snow")}\n`;
    const record = (await (await put(plane, body)).json()) as DatasetRecord;
    expect(record).toMatchObject({ sha256: sha256Of(body), rows: 2, name: "topics" });
    expect(record.bytes).toBe(new TextEncoder().encode(body).byteLength);
    expect(await plane.json("GET", `/datasets/${record.sha256}`)).toEqual(record);
    plane.clock.advance(5_000);
    expect(await (await put(plane, body)).json()).toEqual(record);
    const head = await datasetHead(plane.control, record.sha256, 5);
    expect(head.map(({ row: columns }) => columns["topic"])).toEqual(["雨", "snow"]);
  });

  it("may arrive in pieces that cut lines and characters apart", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const bytes = new TextEncoder().encode([row("雨"), row("🌧"), row("x")].join("\n"));
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(at, ++at));
      },
    });
    const response = await plane.app.request(`/datasets/${sha256Of(bytes)}`, {
      method: "PUT",
      headers: { authorization: "Bearer sk-spotter-admin-of-this-test" },
      body,
      duplex: "half",
    });
    expect(await response.json()).toMatchObject({ rows: 3, bytes: bytes.length });
  });

  it("without rows are refused", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    for (const body of ["", "\n\n"])
      expect((await errorOf(await put(plane, body))).code).toBe("dataset_empty");
  });

  it.each([
    ["not JSON", "{", "is not JSON"],
    ["not a row", '{"prompt":"x","row":{}}', "prompt"],
    ["not an object", "7", "line 2"],
  ])("with a line that is %s are refused by its number", async (_name, line, part) => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const body = `${row("a")}\n${line}\n${row("b")}\n`;
    const response = await put(plane, body);
    expect(response.status).toBe(400);
    const error = await errorOf(response);
    expect(error).toMatchObject({ code: "dataset_invalid", where: "line 2" });
    expect(error.message).toContain(part);
    expect((await plane.call("GET", `/datasets/${sha256Of(body)}`)).status).toBe(404);
  });

  it("that hash otherwise are not kept", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const hash = sha256Of("something else");
    const refused = await put(plane, row("a"), hash);
    expect(refused.status).toBe(400);
    expect(await errorOf(refused)).toMatchObject({ code: "invalid_input", where: "sha256" });
    expect((await plane.call("GET", `/datasets/${hash}`)).status).toBe(404);
    expect((await put(plane, row("a"), "nonsense")).status).toBe(400);
  });

  it("must be there, with as many rows as a run believes, before the run is accepted", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const spec = (rows: number, sha256: string) => ({
      kind: "sft",
      model: { name: "spotter/nano" },
      dataset: { sha256, rows },
      algorithm: { kind: "sft" },
      trainer: { steps: 1 },
    });
    const missing = await plane.call("POST", "/runs", spec(1, "0".repeat(64)));
    expect(await errorOf(missing)).toMatchObject({ code: "not_found", where: "dataset" });
    await put(plane, row("a"));
    const wrong = await plane.call("POST", "/runs", spec(2, sha256Of(row("a"))));
    expect(await errorOf(wrong)).toMatchObject({ code: "invalid_input", where: "dataset.rows" });
    expect((await plane.call("POST", "/runs", spec(1, sha256Of(row("a"))))).status).toBe(201);
  });
});
