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
});
