import { invalidRow } from "../dataset-rows.ts";

/** UTF-8 text piece by piece, without a byte order mark. */
export async function* textOf(bytes: AsyncIterable<Uint8Array>, name: string): AsyncIterable<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (cause) {
      throw invalidRow(name, "the file is not UTF-8", cause);
    }
  };
  for await (const chunk of bytes) yield decode(chunk);
  yield decode();
}

/** Lines end with \n only: node:readline would also split at U+2028, which JSON strings may hold. */
export async function* linesOf(text: AsyncIterable<string>): AsyncIterable<string> {
  let rest: string[] = [];
  for await (const piece of text) {
    const lines = piece.split("\n");
    const last = lines.pop() ?? "";
    for (const line of lines) {
      yield rest.length === 0 ? line : rest.join("") + line;
      rest = [];
    }
    if (last !== "") rest.push(last);
  }
  if (rest.length > 0) yield rest.join("");
}
