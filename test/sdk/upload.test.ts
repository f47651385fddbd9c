import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Dataset } from "../../sdk/dataset.ts";
import { packDataset, packUserCode, uploadDataset } from "../../sdk/upload.ts";
import { fakeServer, sendError } from "./fake-server.ts";

const rows = [{ q: "a" }, { q: "b" }];

describe("packDataset", () => {
  it("names the same rows by the same hash, whatever the dataset is called", async () => {
    const one = await packDataset(Dataset.fromArray(rows, { inputColumn: "q", name: "one" }));
    const two = await packDataset(Dataset.fromArray(rows, { inputColumn: "q" }));
    expect(one.ref).toEqual({ ...two.ref, name: "one" });
    expect(one.ref.sha256).toBe(
      createHash("sha256")
        .update(new Uint8Array(await new Blob([one.bytes as Uint8Array<ArrayBuffer>]).arrayBuffer()))
        .digest("hex"),
    );
    expect((await packDataset(Dataset.fromArray(rows, { promptTemplate: "{q}!" }))).ref.sha256).not.toBe(
      one.ref.sha256,
    );
  });

  it("shows each row to the check, with its index", async () => {
    const seen: unknown[] = [];
    await packDataset(Dataset.fromArray(rows, { inputColumn: "q" }), ({ row }, index) =>
      seen.push([row.q, index]),
    );
    expect(seen).toEqual([
      ["a", 0],
      ["b", 1],
    ]);
  });
});

describe("packUserCode", () => {
  it("bundles a path or a URL to the same module", async () => {
    const url = new URL("../fixtures/sdk/rewards.ts", import.meta.url);
    const [a, b] = await Promise.all([packUserCode(url), packUserCode(fileURLToPath(url))]);
    expect(a.ref).toEqual(b.ref);
    expect(a.name).toBe("rewards.ts");
  });
});

describe("uploadDataset", () => {
  it("passes on every error but that the server lacks it", async () => {
    const packed = await packDataset(Dataset.fromArray(rows, { inputColumn: "q" }));
    const { client, requests } = await fakeServer({
      "*": (_, response) => sendError(response, 403, "forbidden", "No."),
    });
    await expect(uploadDataset(client, packed, undefined)).rejects.toMatchObject({ code: "forbidden" });
    expect(requests).toHaveLength(1);
  });

  it("sends many rows to where the server says, and has them read over", async () => {
    const many = Array.from({ length: 600 }, (_, n) => ({ q: `${n} ${"x".repeat(2000)}` }));
    const packed = await packDataset(Dataset.fromArray(many, { inputColumn: "q" }));
    const path = `/datasets/${packed.ref.sha256}`;
    const bytes = (packed.bytes as Uint8Array).byteLength;
    const dataset = { v: 1, sha256: packed.ref.sha256, rows: 600, bytes, createdAtMs: 1 };
    let sent = false;
    const { client, requests, url } = await fakeServer({
      [`POST ${path}`]: () =>
        sent ? { dataset } : { upload: { url: `${url}/bucket/rows`, headers: { "x-sum": "abc" } } },
      "PUT /bucket/rows": () => {
        sent = true;
        return {};
      },
    });
    await uploadDataset(client, packed, undefined);
    expect(requests.map(({ method, path: asked }) => `${method} ${asked}`)).toEqual([
      `GET ${path}`,
      `POST ${path}`,
      "PUT /bucket/rows",
      `POST ${path}`,
    ]);
    expect(requests[2]?.body).toHaveLength(bytes);
    expect(requests[2]?.headers).toMatchObject({ "x-sum": "abc" });
    expect(requests[2]?.headers.authorization).toBeUndefined();
  });

  it("sends them to the server itself where it names no other place", async () => {
    const many = Array.from({ length: 600 }, (_, n) => ({ q: `${n} ${"x".repeat(2000)}` }));
    const packed = await packDataset(Dataset.fromArray(many, { inputColumn: "q" }));
    const path = `/datasets/${packed.ref.sha256}`;
    const bytes = (packed.bytes as Uint8Array).byteLength;
    const { client, requests } = await fakeServer({
      [`POST ${path}`]: () => ({}),
      [`PUT ${path}`]: () => ({ v: 1, sha256: packed.ref.sha256, rows: 600, bytes, createdAtMs: 1 }),
    });
    await uploadDataset(client, packed, undefined);
    expect(requests.at(-1)).toMatchObject({ method: "PUT", path });
    expect(requests.at(-1)?.body).toHaveLength(bytes);
  });
});
