import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Blobs } from "../../../functions/ports/blobs.ts";

export interface BlobsFixture {
  blobs: Blobs;
  /** Makes a finished local file with this content; resolves to its path. */
  localFile: (content: Uint8Array) => Promise<string>;
  dispose: () => Promise<void>;
}

/** What every Blobs must do. */
export function blobsContract(name: string, create: () => Promise<BlobsFixture>): void {
  describe(`${name} keeps the Blobs contract`, () => {
    let fixture: BlobsFixture;
    let blobs: Blobs;
    beforeEach(async () => {
      fixture = await create();
      blobs = fixture.blobs;
    });
    afterEach(async () => {
      await fixture.dispose();
    });
    const read = async (key: string, range?: [number, number]) =>
      await drain(await blobs.get(key, range === undefined ? {} : { range }));

    it("gives back what was put, with size and hash", async () => {
      const content = randomBytes(1000);
      expect(await blobs.put("a/b/c.bin", content)).toEqual({
        key: "a/b/c.bin",
        size: 1000,
        sha256: sha256(content),
      });
      expect(await read("a/b/c.bin")).toEqual(content);
      expect(Buffer.from((await blobs.bytes("a/b/c.bin")) ?? [])).toEqual(content);
      expect(await blobs.head("a/b/c.bin")).toEqual({ key: "a/b/c.bin", size: 1000 });
    });

    it("takes and gives streams of any chunks", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 8 }),
          fc.nat(9000),
          fc.nat(9000),
          async (chunks, a, b) => {
            const content = Buffer.concat(chunks);
            const put = await blobs.put("stream", ReadableStream.from(chunks));
            expect(put).toEqual({ key: "stream", size: content.length, sha256: sha256(content) });
            expect(await read("stream")).toEqual(content);
            const range: [number, number] = [Math.min(a, b), Math.max(a, b)];
            expect(await read("stream", range)).toEqual(content.subarray(...range));
          },
        ),
        { numRuns: 25 },
      );
    });

    it("keeps large bodies whole", async () => {
      const content = randomBytes(9_000_000);
      const half = content.length / 2;
      await blobs.put("large", ReadableStream.from([content.subarray(0, half), content.subarray(half)]));
      expect(sha256(await read("large"))).toBe(sha256(content));
      expect(await read("large", [half - 3, half + 3])).toEqual(content.subarray(half - 3, half + 3));
    });

    it("keeps an empty blob", async () => {
      await blobs.put("empty", new Uint8Array());
      expect(await read("empty")).toHaveLength(0);
      expect(await blobs.head("empty")).toEqual({ key: "empty", size: 0 });
    });

    it("has nothing under a key that was never put", async () => {
      expect(await blobs.get("none")).toBeUndefined();
      expect(await blobs.bytes("none/deeper")).toBeUndefined();
      expect(await blobs.head("none")).toBeUndefined();
      await blobs.delete("none");
    });

    it("replaces a blob, and deletes it", async () => {
      await blobs.put("a/x", Buffer.from("one"));
      await blobs.put("a/x", Buffer.from("two!"));
      expect((await read("a/x")).toString()).toBe("two!");
      await blobs.delete("a/x");
      expect(await blobs.head("a/x")).toBeUndefined();
      expect(await blobs.list("")).toEqual([]);
      await blobs.put("a/x", Buffer.from("three"));
      expect((await read("a/x")).toString()).toBe("three");
    });

    it("lists by any prefix, in byte order", async () => {
      for (const key of ["run/2/b", "run/1/a", "run/10/c", "runs", "other", "run/1/ä"]) {
        await blobs.put(key, Buffer.from(key));
      }
      const list = async (prefix: string) => (await blobs.list(prefix)).map((info) => info.key);
      expect(await list("")).toEqual(["other", "run/1/a", "run/1/ä", "run/10/c", "run/2/b", "runs"]);
      expect(await list("run/1")).toEqual(["run/1/a", "run/1/ä", "run/10/c"]);
      expect(await list("run/1/")).toEqual(["run/1/a", "run/1/ä"]);
      expect(await list("run/1/a")).toEqual(["run/1/a"]);
      expect(await list("nothing/here")).toEqual([]);
      expect(await blobs.list("run/10")).toEqual([{ key: "run/10/c", size: 8 }]);
    });

    it("keeps a body that hashes as promised, and no other", async () => {
      const content = Buffer.from("checkpoint");
      await blobs.put("good", content, { sha256: sha256(content) });
      const wrong = blobs.put("bad", ReadableStream.from([content]), { sha256: "0".repeat(64) });
      await expect(wrong).rejects.toMatchObject({ code: "blob_corrupt", where: "bad" });
      expect((await blobs.list("")).map((info) => info.key)).toEqual(["good"]);
      await expect(blobs.put("good", Buffer.from("x"), { sha256: "0".repeat(64) })).rejects.toMatchObject({
        code: "blob_corrupt",
      });
      expect((await read("good")).toString()).toBe("checkpoint");
    });

    it("never shows a blob that is half written", async () => {
      let arrive: (chunk: Uint8Array) => void = () => {};
      let end: () => void = () => {};
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          arrive = (chunk) => controller.enqueue(chunk);
          end = () => controller.close();
        },
      });
      const put = blobs.put("slow", body);
      arrive(randomBytes(100_000));
      for (let turn = 0; turn < 20; turn++) {
        expect(await blobs.head("slow")).toBeUndefined();
        expect(await blobs.list("")).toEqual([]);
      }
      end();
      expect(await put).toMatchObject({ size: 100_000 });
      expect(await blobs.head("slow")).toMatchObject({ size: 100_000 });
    });

    it("keeps nothing of a body that breaks off, and tells its reason", async () => {
      async function* broken() {
        yield randomBytes(1000);
        throw new Error("the line is dead");
      }
      await expect(blobs.put("broken", ReadableStream.from(broken()))).rejects.toThrow("the line is dead");
      expect(await blobs.list("")).toEqual([]);
    });

    it("lets the last of several writers win as a whole", async () => {
      const contents = Array.from({ length: 8 }, (_, n) => Buffer.alloc(50_000, n));
      await Promise.all(contents.map((content) => blobs.put("same", ReadableStream.from([content]))));
      const kept = await read("same");
      expect(contents.some((content) => content.equals(kept))).toBe(true);
    });

    it("goes on giving the old content to who began to read it", async () => {
      await blobs.put("k", Buffer.from("old"));
      const stream = await blobs.get("k");
      await blobs.put("k", Buffer.from("new!"));
      expect((await drain(stream)).toString()).toBe("old");
    });

    it("imports a finished local file, again over itself too", async () => {
      const content = randomBytes(5000);
      const path = await fixture.localFile(content);
      expect(await blobs.import("in/model.bin", path)).toEqual({ key: "in/model.bin", size: 5000 });
      expect(await blobs.import("in/model.bin", path)).toEqual({ key: "in/model.bin", size: 5000 });
      expect(await read("in/model.bin")).toEqual(content);
      expect(await blobs.list("")).toHaveLength(1);
      await expect(blobs.import("x", `${path}-none`)).rejects.toMatchObject({ code: "not_found" });
    });

    it("does not fail a reader that leaves early", async () => {
      await blobs.put("big", randomBytes(2_000_000));
      const stream = await blobs.get("big");
      const reader = stream?.getReader();
      expect((await reader?.read())?.value?.byteLength).toBeGreaterThan(0);
      await reader?.cancel();
    });

    it.each(["", "/etc/passwd", "../outside", "a/../../b", "a//b", "a/", "./a", "a\\b", "a\0b", "\ud800"])(
      "refuses the key %j",
      async (key) => {
        await expect(blobs.put(key, new Uint8Array())).rejects.toMatchObject({ code: "invalid_input" });
        await expect(blobs.get(key)).rejects.toMatchObject({ code: "invalid_input" });
        await expect(blobs.delete(key)).rejects.toMatchObject({ code: "invalid_input" });
      },
    );

    it.each<[number, number]>([
      [-1, 2],
      [3, 2],
      [0.5, 2],
      [0, Number.NaN],
    ])("refuses the range [%d, %d)", async (start, end) => {
      await blobs.put("k", Buffer.from("text"));
      await expect(blobs.get("k", { range: [start, end] })).rejects.toMatchObject({ code: "invalid_input" });
    });

    it("tells people where a blob is", () => {
      expect(blobs.location("run/1/a")).toMatch(/run\/1\/a$/);
    });
  });
}

async function drain(stream: ReadableStream<Uint8Array> | undefined): Promise<Buffer> {
  expect(stream).toBeDefined();
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
