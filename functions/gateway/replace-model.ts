const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENS = new Set([0x7b, 0x5b]);
const CLOSES = new Set([0x7d, 0x5d]);
const COLON = 0x3a;

/**
 * The same JSON object with another text for its top-level `model`. Everything else keeps its bytes: numbers
 * that JavaScript cannot hold, the order of keys, what engines read and we do not.
 *
 * @param json - Valid JSON of an object in UTF-8 whose `model` is a text.
 */
export function replaceModel(json: Uint8Array, model: string): Uint8Array {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const parts: Buffer[] = [];
  const text = Buffer.from(JSON.stringify(model));
  let kept = 0;
  for (const { start, end } of modelValues(bytes)) {
    parts.push(bytes.subarray(kept, start), text);
    kept = end;
  }
  return Buffer.concat([...parts, bytes.subarray(kept)]);
}

/** Where the values of `model` lie: a key may be there twice, and then the last one counts. */
function* modelValues(bytes: Buffer): Generator<{ start: number; end: number }> {
  let depth = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte !== QUOTE) {
      if (OPENS.has(byte)) depth++;
      else if (CLOSES.has(byte)) depth--;
      at++;
      continue;
    }
    const end = endOfText(bytes, at);
    const start = depth === 1 ? valueOf(bytes, at, end) : undefined;
    at = start ?? end;
    if (start === undefined || bytes[start] !== QUOTE) continue;
    at = endOfText(bytes, start);
    yield { start, end: at };
  }
}

/** Where the value begins, if the text from `start` to `end` is the key we look for. */
function valueOf(bytes: Buffer, start: number, end: number): number | undefined {
  const colon = skipSpace(bytes, end);
  if (bytes[colon] !== COLON || JSON.parse(bytes.toString("utf8", start, end)) !== "model") return undefined;
  return skipSpace(bytes, colon + 1);
}

/** Behind the quote that ends the text which begins at `start`. Most of a body is inside of texts. */
function endOfText(bytes: Buffer, start: number): number {
  let at = bytes.indexOf(QUOTE, start + 1);
  while (isEscaped(bytes, at)) at = bytes.indexOf(QUOTE, at + 1);
  return at + 1;
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at;
  while (bytes[before - 1] === BACKSLASH) before--;
  return (at - before) % 2 === 1;
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (isSpace(bytes[at])) at++;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
