import fc from "fast-check";
import { expect, it } from "vitest";
import {
  growingPartBytes,
  MAX_PARTS,
  MIN_PART_BYTES,
  partsOf,
} from "../../../../functions/aws/s3-blobs/parts.ts";

it("cuts any stream into full parts and a last one, and loses no byte", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 12 }),
      fc.integer({ min: 1, max: 20 }),
      async (chunks, partBytes) => {
        const seen: Uint8Array[] = [];
        const parts = [];
        const body = ReadableStream.from(chunks);
        for await (const part of partsOf(
          body,
          (chunk) => seen.push(chunk),
          () => partBytes,
        ))
          parts.push(part);
        const content = Buffer.concat(chunks);
        expect(Buffer.concat(parts.map(({ bytes }) => bytes))).toEqual(content);
        expect(Buffer.concat(seen)).toEqual(content);
        expect(parts.map(({ last }) => last)).toEqual(parts.map((_, n) => n === parts.length - 1));
        expect(parts.slice(0, -1).every(({ bytes }) => bytes.byteLength === partBytes)).toBe(true);
        expect(parts).toHaveLength(Math.max(1, Math.ceil(content.length / partBytes)));
      },
    ),
  );
});

it("grows its parts so that 484 GiB fit into what S3 counts", () => {
  let all = 0;
  for (let number = 1; number <= MAX_PARTS; number++) all += growingPartBytes(number);
  expect(Math.floor(all / 2 ** 30)).toBe(484);
  expect(growingPartBytes(1)).toBe(8 * 2 ** 20);
  expect(growingPartBytes(1)).toBeGreaterThan(MIN_PART_BYTES);
  expect(growingPartBytes(MAX_PARTS)).toBe(128 * 2 ** 20);
});

it("refuses a stream with more", async () => {
  const parts = partsOf(
    Buffer.alloc(MAX_PARTS + 1),
    () => {},
    () => 1,
  );
  const all = async () => {
    for await (const _ of parts);
  };
  await expect(all()).rejects.toMatchObject({ code: "payload_too_large" });
});
