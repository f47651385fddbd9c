import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { fakeServer } from "../../fake-server.ts";
import { checkpointRecord, evalRecordOf, runDetailOf } from "../../records.ts";
import { runCli } from "../run-cli.ts";

describe("spotter key", () => {
  const record = { v: 1, id: "k1", name: "web", scope: "chat", endpoints: ["haiku"], createdAtMs: 1 };

  it("shows a new key alone on standard output, so that it can be piped", async () => {
    const { url, requests } = await fakeServer({ "POST /keys": () => ({ key: "sk-spotter-x", record }) });
    const result = await runCli("key create web --endpoint haiku", { url });
    expect(result.out).toBe("sk-spotter-x\n");
    expect(result.err).toContain("spotter key revoke k1");
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({ name: "web", scope: "chat", endpoints: ["haiku"] });
    expect((await runCli("key create --name web", { url })).out).toBe("sk-spotter-x\n");
    expect(JSON.parse(requests[1]?.body ?? "")).toMatchObject({ name: "web" });
    expect((await runCli("key create", { url })).err).toContain("The key has no name. [invalid_input]");
    expect((await runCli("key create web --name app", { url })).code).toBe(2);
    expect((await runCli("key create web --scope root", { url })).err).toContain(
      "Allowed choices are admin, write, chat",
    );
  });

  it("lists and revokes", async () => {
    const { url } = await fakeServer({
      "GET /keys": () => ({ items: [record, { ...record, id: "k2", revokedAtMs: 2 }] }),
      "DELETE /keys/k1": () => record,
    });
    expect((await runCli("key list", { url })).out).toMatch(/k1 .* valid [^]*k2 .* revoked/);
    expect((await runCli("key revoke k1", { url })).out).toBe("Revoked k1.\n");
  });
});

describe("spotter secret", () => {
  it("sets what is piped in without its line end, lists names and removes", async () => {
    const { url, requests } = await fakeServer({
      "PUT /secrets/JUDGE": (_, response) => void response.writeHead(204).end(),
      "GET /secrets": () => ({ names: ["JUDGE"] }),
      "DELETE /secrets/JUDGE": (_, response) => void response.writeHead(204).end(),
    });
    expect(await runCli("secret set JUDGE", { url, input: "s3cret\n" })).toMatchObject({
      code: 0,
      out: "Set JUDGE.\n",
    });
    expect(requests[0]?.body).toBe('{"value":"s3cret"}');
    expect((await runCli("secret list", { url })).out).toBe("JUDGE\n");
    expect((await runCli("secret remove JUDGE", { url })).code).toBe(0);
    expect((await runCli("secret set JUDGE", { url })).code).toBe(2);
    const short = await runCli("secret set JUDGE", { url, input: "abcde" });
    expect(short).toMatchObject({ code: 0, err: expect.stringContaining("less than 6") as string });
  });

  it("takes no value as an argument, where shells and other users would see it", async () => {
    const { url, requests } = await fakeServer({});
    expect((await runCli("secret set JUDGE s3cret", { url })).code).toBe(2);
    expect(requests).toEqual([]);
  });
});

describe("an empty list", () => {
  it("says on standard error what would fill it, to people alone", async () => {
    const { url } = await fakeServer({ "GET /secrets": () => ({ names: [] }), "*": () => ({ items: [] }) });
    for (const noun of ["run", "endpoint", "eval", "key", "model", "secret"]) {
      const seen = await runCli(`${noun} list`, { url, isTerminal: true, env: { npm_command: "exec" } });
      expect(seen, noun).toMatchObject({ code: 0, out: "" });
      expect(seen.err, noun).toMatch(new RegExp(`^No ${noun}s yet\\. .*\n$`));
      expect(seen.err, noun).not.toContain("`spotter ");
      expect((await runCli(`${noun} list`, { url })).err, noun).toBe("");
    }
  });
});

describe("spotter checkpoint", () => {
  it("lists by step and downloads", async () => {
    const files = [
      { path: "model/config.json", size: 2, sha256: createHash("sha256").update("{}").digest("hex") },
    ];
    const { url } = await fakeServer({
      "GET /runs/run1": () => runDetailOf(),
      "GET /runs/run1/checkpoints": () => ({ items: [checkpointRecord(20), checkpointRecord(10)] }),
      "GET /checkpoints/run1@10": () => checkpointRecord(10, { files }),
      "GET /checkpoints/run1@10/files/model/config.json": (_, response) => void response.end("{}"),
    });
    expect((await runCli("checkpoint list run1", { url })).out).toMatch(/run1@10[^]*run1@20/);
    const folder = mkdtempSync(join(tmpdir(), "spotter-cli-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await runCli(["checkpoint", "download", "run1@10", join(folder, "model")], { url });
    expect(readFileSync(join(folder, "model", "model", "config.json"), "utf8")).toBe("{}");
  });
});

describe("spotter eval", () => {
  const score = { mean: -2, low: -2.5, high: -1.5, n: 240 };
  const done = evalRecordOf({ state: "succeeded", done: 2, score, scores: { haiku: score } });

  it("lists and shows scores with their intervals", async () => {
    const { url } = await fakeServer({
      "GET /evals": () => ({ items: [done] }),
      "GET /evals/eval1": () => done,
    });
    expect((await runCli("eval list", { url })).out).toContain("-2.00 [-2.50, -1.50] n=240");
    expect((await runCli("eval get eval1", { url })).out).toMatch(/haiku +-2\.00 \[-2\.50, -1\.50\] n=240/);
  });

  it("launches and waits for the score", async () => {
    const accepted = {
      v: 1,
      sha256: "0".repeat(64),
      name: "x",
      rows: 1,
      exports: [],
      bytes: 1,
      createdAtMs: 1,
    };
    const { url, requests } = await fakeServer({
      "POST /evals": () => evalRecordOf(),
      "GET /evals/eval1": () => done,
      "*": () => accepted,
    });
    const args = [
      "eval",
      "launch",
      "nano",
      "examples/haiku/heldout.jsonl",
      "--rewards",
      "test/fixtures/sdk/rewards.ts",
    ];
    const result = await runCli([...args, "--input-column", "keywords", "--samples", "8"], { url });
    expect(result).toMatchObject({ code: 0, err: "" });
    const sent = requests.find(({ method }) => method === "POST");
    expect(JSON.parse(sent?.body ?? "")).toMatchObject({
      endpoint: "nano",
      samplesPerRow: 8,
      dataset: { rows: 30 },
    });
  });
});
