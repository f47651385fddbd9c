import { describe, expect, it } from "vitest";
import { createKeyRing, KEYS, newKey, type KeyDocument } from "../../../functions/keys/key-ring.ts";
import type { Store } from "../../../functions/ports/store.ts";
import { fakeClock } from "../../fakes/clock.ts";
import { memoryStore } from "../../fakes/memory-store.ts";

async function stored(store: Store) {
  const { key, hash, id } = newKey("0".repeat(48));
  const document: KeyDocument = {
    v: 1,
    hash,
    record: { v: 1, id, name: "web", scope: "chat", createdAtMs: 1 },
  };
  const put = (changes: Partial<KeyDocument["record"]>) =>
    store.put({ partition: KEYS, sort: id }, { ...document, record: { ...document.record, ...changes } });
  await put({});
  return { key, put };
}

describe("keys that other processes change too", () => {
  it("are read again while they are used: a revocation and a limit take effect within two seconds", async () => {
    const store = memoryStore();
    const clock = fakeClock();
    const { key, put } = await stored(store);
    const ring = createKeyRing({ store, clock, maxAgeMs: 2_000 });
    expect(await ring.find(key)).toMatchObject({ scope: "chat" });
    await put({ limits: { requestsPerMinute: 1 } });
    clock.advance(1_000);
    await ring.refresh();
    expect(await ring.find(key)).toMatchObject({ limits: { requestsPerMinute: 1 } });
    await put({ revokedAtMs: 5 });
    clock.advance(1_000);
    await ring.refresh();
    expect(await ring.find(key)).toBeUndefined();
  });

  it("are read again after a pause, before anything of old is believed", async () => {
    const store = memoryStore();
    const clock = fakeClock();
    const { key, put } = await stored(store);
    const ring = createKeyRing({ store, clock, maxAgeMs: 2_000 });
    await ring.find(key);
    await put({ revokedAtMs: 5 });
    clock.advance(2_001);
    expect(await ring.find(key)).toBeUndefined();
  });

  it("cost no read where all writers are in this process", async () => {
    const store = memoryStore();
    const clock = fakeClock();
    const { key } = await stored(store);
    const ring = createKeyRing({ store, clock });
    await ring.find(key);
    store.get = async () => {
      throw new Error("no store here");
    };
    clock.advance(3_600_000);
    await ring.refresh();
    expect(await ring.find(key)).toMatchObject({ scope: "chat" });
  });
});
