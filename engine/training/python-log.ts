import type { Readable } from "node:stream";

const MAX_LINES = 200;
const MAX_CHARACTERS = 1_000;

/**
 * Lines of what user code prints, as far as a log takes them: the first 200, then the 1,000th, 2,000th and so on,
 * each up to 1,000 characters.
 */
export function boundedLines(stream: Readable, write: (line: string) => void): void {
  let line = "";
  let count = 0;
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const [first = "", ...rest] = text.split("\n");
    line = (line + first).slice(0, MAX_CHARACTERS);
    for (const each of rest) {
      finish();
      line = each.slice(0, MAX_CHARACTERS);
    }
  });
  stream.on("end", finish);

  function finish(): void {
    if (line.trim() === "") return;
    count++;
    if (count <= MAX_LINES || count % 1_000 === 0) write(line);
    if (count === MAX_LINES) write("(of what follows, only every 1,000th line is kept)");
    line = "";
  }
}
