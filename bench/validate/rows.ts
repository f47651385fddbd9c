import { closeSync, openSync, writeSync } from "node:fs";

const CHUNK_ROWS = 500;
const STORY = "A baker sells N boxes of rolls in the morning and half as many in the afternoon. ";

/** Who wrote the rows: JavaScript, one paragraph each; or Python, with quotes, paragraphs, amounts and a column more. */
export type Writer = "javascript" | "python";

/**
 * Writes rows of one, two and three messages, of different lengths, some with letters outside of ASCII, until
 * the file has `bytes`. The same rows each time. Returns its size.
 */
export function writeRows(path: string, bytes: number, writer: Writer): number {
  const file = openSync(path, "w");
  let written = 0;
  try {
    for (let row = 0; written < bytes; row += CHUNK_ROWS) {
      const lines = Array.from({ length: CHUNK_ROWS }, (_, index) => line(row + index, writer));
      const chunk = Buffer.from(`${lines.join("\n")}\n`);
      writeSync(file, chunk);
      written += chunk.length;
    }
    return written;
  } finally {
    closeSync(file);
  }
}

function line(index: number, writer: Writer): string {
  const story = STORY.replace("N", String(index)).repeat(1 + (index % 7));
  const question = `${story}How many rolls are that?`;
  const system = index % 3 === 0 ? [{ role: "system", content: "Lös die Aufgabe Schritt für Schritt." }] : [];
  const example =
    index % 5 === 0
      ? [
          { role: "user", content: "2 + 2?" },
          { role: "assistant", content: "4" },
        ]
      : [];
  const row = (content: string) => ({
    messages: [...system, ...example, { role: "user", content }],
    rewards: index % 2 === 0 ? ["accuracy"] : ["accuracy", "brevity"],
    metadata: { expected_answer: String(index * 3), source: "generated", id: index },
  });
  if (writer === "javascript") return JSON.stringify(row(question));
  const paragraphs = `A "baker" at work:\n\n${question.replaceAll(". ", ".\n")}\nA roll costs $1.50.`;
  return asPython({ ...row(paragraphs), level: index % 4 });
}

/** As json.dumps writes it: a space behind commas and colons, letters outside of ASCII as escapes. */
function asPython(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(asPython).join(", ")}]`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([key, each]) => `${asPython(key)}: ${asPython(each)}`)
      .join(", ")}}`;
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
