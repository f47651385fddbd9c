/** A whole number of 16 digits or more may lie above 2^53. */
const MANY_DIGITS = /(?<![\d.eE+-])-?\d{16}/;

/** As V8 has it; the library of types has not yet. */
interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
}

/**
 * JSON in which whole numbers that JavaScript cannot hold stay what they are: each becomes an object that
 * `JSON.stringify` writes digit for digit. For values that are passed on, as a row's metadata is to Python: they are
 * no numbers to calculate with.
 *
 * @throws SyntaxError as `JSON.parse`
 * @example
 * JSON.stringify(parseExactly('{"id": 12345678901234567891}')); // {"id":12345678901234567891}
 */
export function parseExactly(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text) as unknown;
  const json = JSON as unknown as ExactJson;
  return json.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined && isInexact(source, value)
      ? json.rawJSON(source)
      : value,
  );
}

function isInexact(source: string, value: number): boolean {
  return /^-?\d{16,}$/.test(source) && BigInt(source) !== BigInt(value);
}
