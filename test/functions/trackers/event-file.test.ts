import { describe, expect, it } from "vitest";
import { crc32c, fileHead, rowRecords } from "../../../functions/trackers/event-file.ts";
import type { Row } from "../../../functions/trackers/rows.ts";
import { readEventFile } from "./read-event-file.ts";

describe("event files of TensorBoard", () => {
  it("have the checksum CRC-32C", () => {
    // RFC 3720, appendix B.4, and the check value of the algorithm.
    expect(crc32c(Buffer.from("123456789"))).toBe(0xe3069283);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
  });

  it("are read back by another reader: version, settings, scalars, steps and times", () => {
    const rows: Row[] = [
      { step: 1, atMs: 1_700_000_000_500, metrics: { loss: 2.5, "reward/mean": -1 } },
      { step: 300, atMs: 1_700_000_001_000, metrics: { loss: 0.125 } },
      { step: 5_000_000_000, atMs: 1_700_000_002_000, metrics: { loss: 0 } },
    ];
    const settings = { kind: "rl", "model.name": "a|b" };
    const [version, text, ...events] = readEventFile(
      Buffer.concat([fileHead(1_700_000_000_000, settings), rowRecords(rows)]),
    );
    expect(version).toMatchObject({ version: "brain.Event:2", wallTime: 1_700_000_000 });
    expect(text?.texts["settings/text_summary"]).toBe(
      "| setting | value |\n| --- | --- |\n| kind | rl |\n| model.name | a\\|b |",
    );
    expect(
      events.map(({ step, wallTime, scalars }) => ({ step, atMs: wallTime * 1_000, metrics: scalars })),
    ).toEqual(rows);
  });

  it("are refused by a reader where a bit was changed", () => {
    const bytes = Buffer.from(rowRecords([{ step: 1, atMs: 0, metrics: { loss: 1 } }]));
    bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20);
    expect(() => readEventFile(bytes)).toThrow("checksum");
  });
});
