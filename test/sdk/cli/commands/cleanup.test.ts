import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fakeServer } from "../../fake-server.ts";
import { checkpointRecord, runDetailOf } from "../../records.ts";
import { runCli } from "../run-cli.ts";

const report = {
  dryRun: true,
  items: [{ kind: "checkpoint", name: "run1@10", bytes: 3 * 2 ** 20, reason: "not among the last 1" }],
  bytes: 3 * 2 ** 20,
};

describe("spotter cleanup", () => {
  it("shows what would go, how large it is and why", async () => {
    const { url, requests } = await fakeServer({ "POST /cleanup": () => report });
    const result = await runCli("cleanup --dry-run --older-than 12h --keep-last 1", { url });
    expect(result).toMatchObject({ code: 0, err: "" });
    expect(result.out).toMatch(/WHAT +NAME +MIB +WHY\ncheckpoint +run1@10 +3 +not among the last 1\n/);
    expect(result.out).toContain("Would remove 1 thing, 3 MiB.");
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
      dryRun: true,
      olderThanMs: 43_200_000,
      keepLast: 1,
    });
    expect(JSON.parse((await runCli("cleanup --dry-run --json", { url })).out)).toEqual(report);
  });

  it("says so when there is nothing, and takes no odd times and numbers", async () => {
    const { url } = await fakeServer({ "POST /cleanup": () => ({ dryRun: false, items: [], bytes: 0 }) });
    expect((await runCli("cleanup", { url })).out).toBe("Nothing to clean up.\n");
    for (const line of ["--older-than 7", "--older-than soon", "--keep-last -1", "--keep-last 1.5"])
      expect([line, (await runCli(`cleanup ${line}`, { url })).code]).toEqual([line, 2]);
  });
});

describe("spotter checkpoint", () => {
  it("pins, unpins, verifies and deletes", async () => {
    const { url, requests } = await fakeServer({
      "GET /checkpoints/run1@10": () => checkpointRecord(10),
      "PATCH /checkpoints/run1@10": () => checkpointRecord(10, { pinned: true }),
      "POST /checkpoints/run1@10/verify": () => ({ ok: true }),
      "DELETE /checkpoints/run1@10": (_, response) => void response.writeHead(204).end(),
    });
    expect((await runCli("checkpoint pin run1@10", { url })).out).toBe("Pinned run1@10.\n");
    expect((await runCli("checkpoint unpin run1@10", { url })).out).toBe("Unpinned run1@10.\n");
    const pins = requests.filter(({ method }) => method === "PATCH").map(({ body }) => body);
    expect(pins).toEqual(['{"pinned":true}', '{"pinned":false}']);
    expect((await runCli("checkpoint verify run1@10", { url })).out).toContain("as it was saved");
    expect((await runCli("checkpoint delete run1@10", { url })).out).toBe("Deleted run1@10.\n");
  });

  it("has weights made, and says how far they are", async () => {
    const files = [{ path: "trainer/iter_0000009/.metadata", size: 1, sha256: "0".repeat(64) }];
    const failure = { code: "conversion_failed", message: "no such layer" };
    let record = checkpointRecord(10, { files, conversion: { state: "failed", failure } });
    const { url } = await fakeServer({
      "GET /runs/run1": () => runDetailOf(),
      "GET /runs/run1/checkpoints": () => ({ items: [record] }),
      "GET /checkpoints/run1@10": () => record,
      "POST /checkpoints/run1@10/convert": () =>
        (record = checkpointRecord(10, { files, conversion: { state: "queued" } })),
    });
    expect((await runCli("checkpoint list run1", { url })).out).toContain("failed: no such layer");
    const output = join(tmpdir(), "spotter-never-made");
    const exported = await runCli(`checkpoint export run1@10 --format hf --output ${output}`, { url });
    expect(exported).toMatchObject({
      code: 2,
      err: expect.stringContaining("spotter checkpoint convert run1@10") as string,
    });
    const { out } = await runCli("checkpoint convert run1@10", { url });
    expect(out).toBe("run1@10: converting. See `spotter checkpoint list run1`.\n");
    const { out: json } = await runCli("checkpoint convert run1@10 --json", { url });
    expect(JSON.parse(json)).toMatchObject({ conversion: { state: "queued" } });
  });

  it("ends with 1 and the damage when a file is not as it was", async () => {
    const { url } = await fakeServer({
      "GET /checkpoints/run1@10": () => checkpointRecord(10),
      "POST /checkpoints/run1@10/verify": () => ({ ok: false, damage: "model/w is gone" }),
    });
    const result = await runCli("checkpoint verify run1@10", { url });
    expect(result).toMatchObject({ code: 1, err: expect.stringContaining("model/w is gone") as string });
  });
});
