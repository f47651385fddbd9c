import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Dataset } from "../../../sdk/dataset.ts";
import { spoolRows } from "../../../sdk/datasets/row-spool.ts";
import type { DatasetRow } from "../../../sdk/schema/dataset.ts";
import { packDataset } from "../../../sdk/upload.ts";

const script = fileURLToPath(new URL("../../fixtures/sdk/many-rows.ts", import.meta.url));
const ROWS = 25_000;
/** Node and what it has not collected yet take 240; all rows at once take 600. */
const MOST_MIB = 400;

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-spool-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

async function* rowsOf(count: number, fail = false): AsyncIterable<DatasetRow> {
  for (let index = 0; index < count; index++)
    yield { prompt: [{ role: "user", content: "x".repeat(10_000) }], row: { index } };
  if (fail) throw new Error("broken off");
}

const hashOf = async (bytes: Uint8Array | Blob) => {
  const blob = bytes instanceof Blob ? bytes : new Blob([new Uint8Array(bytes)]);
  return createHash("sha256")
    .update(new Uint8Array(await blob.arrayBuffer()))
    .digest("hex");
};

describe("spoolRows", () => {
  it("keeps a few rows in memory, and many in a file that goes when it is closed", async () => {
    const folder = ownFolder();
    const few = await spoolRows(rowsOf(3));
    expect(few.bytes).toBeInstanceOf(Uint8Array);
    expect(readdirSync(folder)).toEqual([]);
    const many = await spoolRows(rowsOf(2_000));
    expect(many.bytes).toBeInstanceOf(Blob);
    expect(readdirSync(folder)).toHaveLength(1);
    for (const each of [few, many]) expect(await hashOf(each.bytes)).toBe(each.sha256);
    expect([few.rows, many.rows]).toEqual([3, 2_000]);
    await many.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("leaves nothing where the rows break off", async () => {
    const folder = ownFolder();
    await expect(spoolRows(rowsOf(2_000, true))).rejects.toThrow("broken off");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("says where no room is", async () => {
    vi.stubEnv("TMPDIR", "/nowhere/at/all");
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(spoolRows(rowsOf(2_000))).rejects.toMatchObject({
      code: "invalid_input",
      where: "/nowhere/at/all",
    });
  });
});

describe("a dataset", () => {
  it("of any format is packed to the rows that load gives", async () => {
    const folder = ownFolder();
    const rows = Array.from({ length: 50 }, (_, index) => ({ q: `question ${index}`, a: `${index}` }));
    writeFileSync(join(folder, "d.csv"), `q,a\n${rows.map(({ q, a }) => `${q},${a}`).join("\n")}\n`);
    const csv = Dataset.fromFile(join(folder, "d.csv"), { inputColumn: "q", outputColumn: "a", name: "d" });
    await csv.save(join(folder, "d.jsonl"));
    await csv.save(join(folder, "d.parquet"));
    for (const name of ["d.csv", "d.jsonl", "d.parquet"]) {
      const dataset = Dataset.fromFile(join(folder, name), {
        inputColumn: "q",
        outputColumn: "a",
        name: "d",
      });
      const loaded = (await dataset.load()).map((row) => `${JSON.stringify(row)}\n`).join("");
      const packed = await packDataset(dataset);
      expect(packed.ref).toMatchObject({
        rows: 50,
        sha256: createHash("sha256").update(loaded).digest("hex"),
      });
      await packed.close();
    }
  });

  it("of 100 MB is packed and sent in bounded memory", { timeout: 60_000 }, async () => {
    const folder = ownFolder();
    const hash = createHash("sha256");
    let size = 0;
    const server = createServer((request, response) => {
      // Neither has it, nor takes it anywhere but here.
      if (request.method !== "PUT") {
        request.resume();
        response.writeHead(404, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: { code: "not_found", kind: "user", message: "no" } }));
        return;
      }
      request.on("data", (chunk: Buffer) => {
        hash.update(chunk);
        size += chunk.byteLength;
      });
      request.on("end", () => {
        const record = { v: 1, sha256: "0".repeat(64), rows: ROWS, bytes: size, createdAtMs: 1 };
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(record));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const args = ["--no-warnings", "--max-old-space-size=48", script, url, String(ROWS)];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { ...process.env, TMPDIR: folder },
    });
    const told = JSON.parse(stdout) as { sha256: string; rows: number; maxRssMiB: number };
    expect(told).toMatchObject({ rows: ROWS, sha256: hash.digest("hex") });
    expect(size).toBeGreaterThan(100_000_000);
    expect(told.maxRssMiB).toBeLessThan(MOST_MIB);
    expect(readdirSync(folder)).toEqual([]);
  });
});
