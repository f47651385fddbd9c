import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { checkRows } from "../../../../sdk/config/project-folder/check-rows.ts";
import { CHUNK_BYTES } from "../../../../sdk/config/project-folder/line-scan.ts";
import { plainRows, programOf } from "../../../../sdk/config/project-folder/plain-rows.ts";
import type { RowContext } from "../../../../sdk/config/project-folder/row-context.ts";
import { ASK, CONTEXT, row, tempFile } from "./rows.ts";
import { BASES, CONTEXTS, NOT_PLAIN, PLAIN, WORDS } from "./plain-row-cases.ts";

const NEWLINE = 10;
const END = Buffer.from([NEWLINE]);

/** Which of the lines are passed over, each alone. */
function passed(
  lines: readonly Buffer[],
  context: Partial<RowContext> = {},
): { lines: Buffer[]; answers: number } {
  const plain = plainRows({ ...CONTEXT, ...context });
  if (!plain) throw new Error("The program that passes over plain rows is not there: npm run build.");
  const passes = (line: Buffer) => {
    const end = Buffer.concat([line, END]).copy(plain.chunk);
    return plain.pass(0, end).lines === 1;
  };
  const found = lines.filter(passes);
  expect(plain.rows).toBe(found.length);
  return { lines: found, answers: plain.answers };
}

async function check(text: Buffer, context: Partial<RowContext>, isEachChecked: boolean) {
  const params = { path: tempFile(text), file: "train.jsonl", context: { ...CONTEXT, ...context } };
  return checkRows({ ...params, isEachChecked });
}

/** The long way, of lines that were passed over: it must find nothing, and count the same. */
async function expectSound(lines: readonly Buffer[], context: Partial<RowContext>): Promise<number> {
  const found = passed(lines, context);
  if (found.lines.length === 0) return 0;
  const text = Buffer.concat(found.lines.flatMap((line) => [line, END]));
  expect(await check(text, context, true)).toEqual({
    rows: found.lines.length,
    bytes: text.length,
    hasImages: false,
    hasDocker: false,
    answers: found.answers,
    hasCalls: false,
    otherAnswers: undefined,
    findings: [],
  });
  return found.lines.length;
}

async function expectSame(text: Buffer, context: Partial<RowContext> = {}): Promise<void> {
  expect(await check(text, context, false)).toEqual(await check(text, context, true));
}

describe("rows that are plainly fine", () => {
  it.each(PLAIN)("passes over %s", (_, line, context = {}) => {
    expect(passed([Buffer.from(line)], context).lines).toHaveLength(1);
  });

  it.each(NOT_PLAIN)("looks at %s", (_, line, context = {}) => {
    expect(passed([Buffer.from(line)], context).lines).toEqual([]);
  });

  it("passes over keys that nothing reads, and looks at those that may be meant for another", () => {
    const lines = ["id", "source", "metdata", "docker_cmd", "id", "variables"].map((key) =>
      Buffer.from(JSON.stringify(row({ [key]: {} }))),
    );
    expect(passed(lines).lines).toEqual([lines[0], lines[1], lines[4]]);
  });

  it("passes over no more kinds of such keys than there is room for", () => {
    const lines = Array.from({ length: 40 }, (_, at) =>
      Buffer.from(JSON.stringify(row({ [`column${at}`]: 1 }))),
    );
    // A row that is looked at for another reason takes no room.
    const other = Buffer.from(JSON.stringify(row({ rewards: ["nope"] })));
    expect(passed(lines.flatMap((line) => [line, other])).lines).toEqual(lines.slice(0, 32));
  });

  it("counts the answers that are learnt", () => {
    const talk = {
      messages: [ASK, { role: "assistant", content: "4" }, ASK, { role: "assistant", content: "5" }],
    };
    const lines = [talk, { messages: [ASK] }, talk].map((each) => Buffer.from(JSON.stringify(each)));
    expect(passed(lines, { kind: "sft" })).toEqual({ lines: [lines[0], lines[2]], answers: 4 });
  });
});

describe("the program", () => {
  const folder = join(import.meta.dirname, "..", "..", "..", "..", "dist", "sdk", "config", "project-folder");
  const whole = readFileSync(join(folder, "plain-rows.wasm"));
  afterEach(() => void vi.unstubAllGlobals());

  it("is none where it is missing or damaged, or is another one", () => {
    expect(programOf(whole)).not.toBe("none");
    const head = whole.subarray(0, 8);
    for (const bytes of [undefined, whole.subarray(0, 0), whole.subarray(1), whole.subarray(0, 3_000), head])
      expect(programOf(bytes)).toBe("none");
  });

  it("is none in a Node without WebAssembly", () => {
    vi.stubGlobal("WebAssembly", undefined);
    expect(programOf(whole)).toBe("none");
  });
});

/** The line and what it becomes with a byte changed, left out or replaced, or cut off there: what of it is UTF-8. */
function changes(line: Buffer): Buffer[] {
  const lines = [line];
  for (let at = 0; at < line.length; at++) {
    const [before, after] = [line.subarray(0, at), line.subarray(at + 1)];
    lines.push(before, Buffer.concat([before, after]));
    for (let bit = 0; bit < 8; bit++)
      lines.push(Buffer.concat([before, Buffer.from([(line[at] ?? 0) ^ (1 << bit)]), after]));
    for (const word of WORDS.map((text) => Buffer.from(text, "latin1")))
      lines.push(Buffer.concat([before, word, after]), Buffer.concat([before, word, line.subarray(at)]));
  }
  return lines.filter((each) => each.length > 0 && !each.includes(NEWLINE) && isUtf8(each));
}

describe("the long way", () => {
  // Thirty thousand rows each: what is passed over and should not be stands in a few places only.
  it.each(CONTEXTS)(
    "finds nothing in rows passed over, with any byte changed: %s",
    async (_, context) => {
      for (const base of BASES.map((text) => Buffer.from(text))) {
        const isPlain = passed([base], context).lines.length === 1;
        expect((await expectSound(changes(base), context)) > 100).toBe(isPlain);
      }
    },
    60_000,
  );
});

describe("train.jsonl", () => {
  const line = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...BASES).map((text) => Buffer.from(text)) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom(...BASES), fc.nat(), fc.constantFrom(...WORDS), fc.nat({ max: 3 }))
        .map(([base, at, word, dropped]) => {
          const bytes = Buffer.from(base);
          const place = at % (bytes.length + 1);
          return Buffer.concat([
            bytes.subarray(0, place),
            Buffer.from(word, "latin1"),
            bytes.subarray(place + dropped),
          ]);
        }),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", " ", "\r", "\uFEFF", "null", "{}").map((text) => Buffer.from(text)),
    },
    { weight: 1, arbitrary: fc.json().map((text) => Buffer.from(text)) },
    {
      weight: 1,
      arbitrary: fc
        .nat({ max: CHUNK_BYTES })
        .map((size) => Buffer.from(JSON.stringify(row({ note: "é".repeat(size) })))),
    },
  );

  it("is told of in the same words either way", async () => {
    const file = fc.tuple(
      fc.array(line, { maxLength: 12 }),
      fc.constantFrom("\n", "\r\n"),
      fc.constantFrom("", "\n"),
    );
    await fc.assert(
      fc.asyncProperty(
        file,
        fc.constantFrom(...CONTEXTS.map(([, context]) => context), { isMcpInSandbox: true }),
        async ([lines, end, last], context) => {
          const text = lines.flatMap((each, at) => [...(at > 0 ? [Buffer.from(end)] : []), each]);
          await expectSame(Buffer.concat([...text, Buffer.from(last)]), context);
        },
      ),
      { numRuns: 100 },
    );
  }, 60_000);

  it("is told of in the same words where rows, letters and faults lie across chunks", async () => {
    const good = Buffer.from(`${JSON.stringify(row({ id: "é" }))}\n`);
    const bad = Buffer.from(`${JSON.stringify(row({ rewards: ["nope"] }))}\n`);
    const fill = (bytes: number) => Array.from({ length: Math.ceil(bytes / good.length) }, () => good);
    for (const shift of [0, 1, 2, 3, good.length - 1]) {
      const lead = Buffer.from(`${" ".repeat(shift)}\n`);
      const broken = Buffer.from([0x7b, 0xff, 0x7d, 0x0a]);
      const parts = [
        lead,
        ...fill(CHUNK_BYTES),
        bad,
        ...fill(CHUNK_BYTES),
        broken,
        bad,
        ...fill(CHUNK_BYTES / 2),
      ];
      await expectSame(Buffer.concat(parts));
    }
  });
});
