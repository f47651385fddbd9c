import { describe, expect, it } from "vitest";
import { fileHead, rowRecords } from "../../../../functions/trackers/event-file.ts";
import type { Row } from "../../../../functions/trackers/rows.ts";
import { hasPython } from "./has-python.ts";
import { runPython } from "./run-python.ts";

/** What the agent makes of an event file, and how much of it it used. */
const READ = `
import base64, json, os
from spotter_agent.event_file import EventFile
data = base64.b64decode(os.environ["EVENTS"])
used, numbers, fault = EventFile().take(data, True)
print(json.dumps([used == len(data), [list(each) for each in numbers], fault]))
`;

async function read(bytes: Uint8Array): Promise<unknown> {
  const [line = ""] = await runPython(READ, { EVENTS: Buffer.from(bytes).toString("base64") });
  return JSON.parse(line);
}

describe.runIf(hasPython)("an event file", { timeout: 20_000 }, () => {
  it("is read as Spotter's own writer of such files writes it", async () => {
    const rows: Row[] = [
      { step: 1, atMs: 1_700_000_000_500, metrics: { loss: 2.5, "reward/mean": -1 } },
      { step: 5_000_000_000, atMs: 1_700_000_001_000, metrics: { loss: 0.125 } },
    ];
    const file = Buffer.concat([fileHead(1_700_000_000_000, { kind: "rl" }), rowRecords(rows)]);
    expect(await read(file)).toEqual([
      true,
      [
        ["loss", 1, 2.5, true],
        ["reward/mean", 1, -1, true],
        ["loss", 5_000_000_000, 0.125, true],
      ],
      null,
    ]);
  });

  it("is read as another writer writes it: tensors of one number, and nothing else than numbers", async () => {
    const [told = ""] = await runPython(`
import json, struct
from event_writer import *
from spotter_agent.event_file import EventFile
floats = lambda *values: struct.pack(f"<{len(values)}f", *values)
data = b"".join(record(event(7, value)) for value in (
    tensor("packed", 1, bytes_field(5, floats(0.5))),
    tensor("unpacked", 1, b"\\x2d" + floats(0.25)),
    tensor("content", 1, bytes_field(4, floats(0.125))),
    tensor("double", 2, bytes_field(6, struct.pack("<d", 0.1))),
    tensor("two", 1, bytes_field(5, floats(1, 2))),
    tensor("text", 7, bytes_field(8, b"words")),
    bytes_field(1, b"histogram") + bytes_field(5, b"\\x09" + struct.pack("<d", 1)),
    simple("nan", float("nan")),
)) + record(event(8, bytes_field(1, b"picture") + bytes_field(4, bytes(2_000_000))), unchecked)
data += record(event(7, simple("last", 3))) + record(event(-1, simple("before all", 1)))
used, numbers, fault = EventFile().take(data, True)
rest = EventFile().take(data[used:], True)
print(json.dumps([[list(each) for each in numbers + rest.numbers if each.tag != "nan"], fault, rest.fault]))
`);
    expect(JSON.parse(told)).toEqual([
      [
        ["packed", 7, 0.5, true],
        ["unpacked", 7, 0.25, true],
        ["content", 7, 0.125, true],
        ["double", 7, 0.1, false],
        ["last", 7, 3, true],
      ],
      null,
      null,
    ]);
  });

  it("loses no more than the record that is damaged, wherever that is", async () => {
    const [told = "", lured = ""] = await runPython(`
import json
from event_writer import *
from spotter_agent.event_file import EventFile
records = [record(event(step, simple("loss", step))) for step in range(3)]
whole = b"".join(records)
odd = []
for at in range(len(records[0]), len(records[0] + records[1])):
    damaged = bytearray(whole)
    damaged[at] ^= 0x40
    used, numbers, fault = EventFile().take(bytes(damaged), True)
    if [each.step for each in numbers] != [0, 2] or fault is None or used != len(whole):
        odd.append(at)
# A page that the disk had no time to write, and what is no such file at all.
zeros = EventFile().take(records[0] + bytes(8192) + records[2], True)
noise = EventFile().take(bytes(range(256)) * 400, True)
# Each place of it could be the beginning of one.
lure = EventFile()
first, second = lure.take(b"\\1" + bytes(7) * 1_000_000, False), lure.take(records[0] + b"\\1\\0\\0\\0\\0\\0\\0" * 300_000, True)
third = lure.take(records[0], True)
print(json.dumps([odd, [each.step for each in zeros.numbers], noise.numbers, noise.fault]))
print(json.dumps([first.fault, second.fault, len(third.numbers), third.used == len(records[0])]))
`);
    expect(JSON.parse(told)).toEqual([[], [0, 2], [], "damaged records are passed over"]);
    const givenUp = "too much of it is damaged, the rest is not read";
    expect(JSON.parse(lured)).toEqual(["damaged records are passed over", givenUp, 0, true]);
  });
});
