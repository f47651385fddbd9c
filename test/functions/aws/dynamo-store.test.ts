import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { DynamoStore } from "../../../functions/aws/dynamo-store.ts";
import type { Store } from "../../../functions/ports/store.ts";
import { update } from "../../../functions/records/update.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { disturb, throttled, type Choose, type Disturbance } from "../../fakes/dynamo-disturbed.ts";
import { FAKE_AWS, startDynamo, type FakeDynamo } from "../../fakes/dynamo.ts";

const run = promisify(execFile);
const key = { partition: "runs", sort: "r1" };

// Thousands of requests in a few seconds, if nobody else wants the processor.
vi.setConfig({ testTimeout: 30_000 });

let dynamo: FakeDynamo;
beforeAll(async () => {
  dynamo = await startDynamo();
});
afterAll(async () => {
  await dynamo.stop();
});

/** Handles of several processes on one new table; `choose` spoils some of their requests. */
async function openStores(count: number, choose?: Choose): Promise<Store[]> {
  const table = await dynamo.createTable();
  return Array.from({ length: count }, () => {
    const client = dynamo.client();
    if (choose !== undefined) disturb(client, choose);
    return new DynamoStore({ table, client });
  });
}

async function openStore(choose?: Choose): Promise<Store> {
  const [store] = await openStores(1, choose);
  if (store === undefined) throw new Error("no store");
  return store;
}

/** Spoils the first attempt of every n-th request. */
function every(n: number, disturbance: Disturbance): Choose {
  return (request, attempt) => (request % n === 0 && attempt === 1 ? disturbance : undefined);
}

describe("many writers", () => {
  it("have one winner in each round of fifty", async () => {
    const stores = await openStores(5);
    const pick = (n: number) => stores[n % stores.length] as Store;
    for (let round = 0; round < 5; round++) {
      const tries = Array.from({ length: 50 }, (_, n) => pick(n).put(key, { n }, { ifVersion: round }));
      const outcomes = await Promise.allSettled(tries);
      const winners = outcomes.flatMap(({ status }, n) => (status === "fulfilled" ? [n] : []));
      expect(winners).toHaveLength(1);
      expect(await pick(1).get(key)).toMatchObject({ value: { n: winners[0] }, version: round + 1 });
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "store_conflict" });
      }
    }
  });

  it("add a named batch once, though two of them send it at the same time", async () => {
    const stores = await openStores(3);
    const send = (n: number, copy: number) => {
      const store = stores[(n + copy) % stores.length] as Store;
      return store.append("s", n % 2 === 0 ? [n] : [n, -n], { batchId: `batch-${n}` });
    };
    const numbers = Array.from({ length: 120 }, (_, n) => n);
    const ends = await Promise.all(
      numbers.map((n) => Promise.all(n % 4 < 2 ? [send(n, 0)] : [send(n, 0), send(n, 1)])),
    );
    const entries = await (stores[0] as Store).read("s", 0, 1000);
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 180 }, (_, n) => n + 1));
    const values = entries.map(({ value }) => value as number);
    for (const n of numbers) {
      const [end = 0, other = end] = ends[n] ?? [];
      // Both copies were told where the one batch is.
      expect(other).toBe(end);
      expect(values.slice(n % 2 === 0 ? end - 1 : end - 2, end)).toEqual(n % 2 === 0 ? [n] : [n, -n]);
    }
  });

  it("lose and repeat nothing of 500 appends", async () => {
    const stores = await openStores(3);
    const appends = Array.from({ length: 500 }, (_, n) => (stores[n % 3] as Store).append("s", [n]));
    expect(new Set(await Promise.all(appends)).size).toBe(500);
    const values = (await (stores[0] as Store).read("s", 0, 1000)).map(({ value }) => value as number);
    expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, n) => n));
  });
});

describe.each<[string, Choose]>([
  ["throttled", every(3, "throttled")],
  ["done without an answer", every(3, "unanswered")],
])("requests that are %s", (_title, choose) => {
  it("lose no update and count none twice", async () => {
    const [a, b] = (await openStores(2, choose)) as [Store, Store];
    const add = (store: Store) =>
      update<{ count: number }>(store, key, (current) => ({
        value: { count: (current?.value.count ?? 0) + 1 },
        indexes: [{ index: "live", partition: "runs", sort: "r1" }],
      }));
    for (let n = 0; n < 12; n++) await Promise.all([add(a), add(b)]);
    expect(await a.get(key)).toMatchObject({ value: { count: 24 }, version: 24 });
    expect(await b.countIndex("live", "runs")).toBe(1);
  });

  it("count a put without a condition once", async () => {
    const store = await openStore(choose);
    for (let n = 1; n <= 12; n++) expect(await store.put(key, n)).toBe(n);
  });

  it("add each batch once, named or not", async () => {
    const stores = await openStores(2, choose);
    const appends = Array.from({ length: 40 }, (_, n) =>
      (stores[n % 2] as Store).append("s", [n], n % 4 < 2 ? {} : { batchId: String(n) }),
    );
    await Promise.all(appends);
    const values = (await (stores[0] as Store).read("s", 0, 100)).map(({ value }) => value as number);
    expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n));
  });
});

describe("much and long", () => {
  it("pages and counts across answers of 1 MB", async () => {
    const store = await openStore();
    const text = "x".repeat(300_000);
    const sorts = Array.from({ length: 8 }, (_, n) => `r${n}`);
    for (const sort of sorts) {
      const indexes = [{ index: "live", partition: "all", sort }];
      await store.put({ partition: "runs", sort }, text, { indexes });
      await store.append("s", [text]);
    }
    const page = await store.query<string>("runs", { limit: 7 });
    expect(page.items.map((item) => item.key.sort)).toEqual(sorts.slice(0, 7));
    expect((await store.queryIndex("live", "all")).items).toHaveLength(8);
    expect(await store.countIndex("live", "all")).toBe(8);
    expect(await store.read("s", 1, 100)).toHaveLength(7);
  });

  it("takes the longest keys, in order", async () => {
    const store = await openStore();
    const partition = "ä".repeat(1024);
    const sorts = ["a", "b"].map((end) => "s".repeat(1023) + end);
    for (const sort of sorts.toReversed()) {
      await store.put({ partition, sort }, sort, { indexes: [{ index: "live", partition, sort }] });
      await store.append(partition, [sort], { batchId: partition });
    }
    expect((await store.query(partition)).items.map(({ value }) => value)).toEqual(sorts);
    const { items, next } = await store.queryIndex("live", partition, { limit: 1 });
    expect(items).toMatchObject([{ key: { partition, sort: sorts[0] } }]);
    const rest = await store.queryIndex("live", partition, { limit: 1, ...(next && { after: next }) });
    expect(rest).toMatchObject({ items: [{ key: { partition, sort: sorts[1] } }] });
    expect(rest.next).toBeUndefined();
    expect(await store.read(partition, 0, 10)).toEqual([{ seq: 1, value: sorts[1] }]);
  });

  it("deletes a long stream to its end, and nothing of its neighbours", async () => {
    const store = await openStore();
    for (const stream of ["s", "s/1"]) {
      for (let n = 0; n < 60; n++) await store.append(stream, [n], { batchId: String(n) });
    }
    await store.deleteStream("s");
    expect(await store.read("s", 0, 100)).toEqual([]);
    expect(await store.append("s", ["new"], { batchId: "59" })).toBe(1);
    expect(await store.read("s/1", 0, 100)).toHaveLength(60);
  });

  it("tells where a stream ends when nothing is added, or where the batch of that name is", async () => {
    const [a, b] = (await openStores(2)) as [Store, Store];
    await a.append("s", [1, 2], { batchId: "first" });
    // Right behind an append of its own, but others have added since.
    const [own, , end] = await Promise.all([a.append("s", [3]), b.append("s", [4]), a.append("s", [])]);
    expect(end).toBeGreaterThanOrEqual(own);
    expect(await a.append("s", [])).toBe(4);
    expect(await b.append("s", [], { batchId: "first" })).toBe(2);
    expect(await b.append("s", [], { batchId: "never" })).toBe(4);
  });

  it("refuses the cursor of another query", async () => {
    const store = await openStore();
    for (const sort of ["a1", "a2", "b1"]) await store.put({ partition: "runs", sort }, sort);
    const { next = "" } = await store.query("runs", { sortPrefix: "a", limit: 1 });
    const other = store.query("runs", { sortPrefix: "b", after: next });
    await expect(other).rejects.toMatchObject({ code: "invalid_input", where: "after" });
  });
});

async function failure(store: Store): Promise<SpotterError> {
  const error: unknown = await store.get(key).catch((reason: unknown) => reason);
  if (!SpotterError.is(error)) throw new Error(`not a SpotterError: ${String(error)}`);
  await store.close();
  return error;
}

describe("a table that cannot be used", () => {
  it("is told as missing", async () => {
    const error = await failure(new DynamoStore({ table: "nowhere", client: dynamo.client() }));
    expect(error).toMatchObject({ code: "aws_resource_missing", retryable: false, where: "nowhere" });
    expect(error.hint).toContain("pulumi up");
  });

  it("is told as throttled once all tries were", async () => {
    let attempts = 0;
    const error = await failure(await openStore(() => (attempts++, "throttled")));
    expect(error).toMatchObject({ code: "aws_throttled", retryable: true });
    expect(attempts).toBe(6);
  });

  it.each(["AccessDeniedException", "CredentialsProviderError", "ExpiredTokenException"])(
    "is told as closed by %s",
    async (name) => {
      const credentials = () => Promise.reject(throttled(name));
      const error = await failure(new DynamoStore({ table: "t", client: dynamo.client({ credentials }) }));
      expect(error).toMatchObject({ code: "aws_denied", retryable: false, where: "t" });
      expect(error.hint).toContain("dynamodb:GetItem");
    },
  );

  it("is told as away when nobody listens", async () => {
    const client = dynamo.client({ endpoint: "http://127.0.0.1:9" });
    const error = await failure(new DynamoStore({ table: "t", client }));
    expect(error).toMatchObject({ code: "aws_unreachable", retryable: true, where: "t" });
  });
});

describe("the AWS SDK", () => {
  const { region, credentials } = FAKE_AWS;

  it("is loaded by the first call only", async () => {
    const script = `
      import { registerHooks } from "node:module";
      const asked = [];
      registerHooks({ resolve: (name, context, next) => (asked.push(name), next(name, context)) });
      const { DynamoStore } = await import("./functions/aws/dynamo-store.ts");
      const store = new DynamoStore({ table: "t", region: "eu-central-1", endpoint: "http://127.0.0.1:9" });
      const isLoaded = () => asked.some((name) => name.startsWith("@aws-sdk/"));
      const before = isLoaded();
      await store.get({ partition: "a", sort: "a" }).catch(() => {});
      await store.close();
      process.stdout.write(JSON.stringify([before, isLoaded()]));`;
    const env = { ...process.env, AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { env });
    expect(JSON.parse(stdout)).toEqual([false, true]);
  });

  it("gets the endpoint, the region and the credentials that are given", async () => {
    const table = await dynamo.createTable();
    const store = new DynamoStore({ table, region, credentials, endpoint: dynamo.endpoint });
    expect(await store.put(key, "a")).toBe(1);
    await store.close();
  });

  it("gives up connections that went dead, and sends the request again", async () => {
    let requests = 0;
    const silent = createServer((request) => void (request.resume(), requests++)).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const options = { table: "t", region, credentials, endpoint, timeoutMs: 30, maxAttempts: 2 };
    const error = await failure(new DynamoStore(options));
    silent.close();
    expect(error).toMatchObject({ code: "aws_unreachable", retryable: true });
    expect(requests).toBe(2);
  });
});
