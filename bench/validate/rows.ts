import { closeSync, openSync, writeSync } from "node:fs";

const CHUNK_ROWS = 500;
const STORY = "A baker sells N boxes of rolls in the morning and half as many in the afternoon. ";

/**
 * Writes rows of one, two and three messages, of different lengths, some with letters outside of ASCII, until
 * the file has `bytes`. The same rows each time. Returns its size.
 */
export function writeRows(path: string, bytes: number): number {
  const file = openSync(path, "w");
  let written = 0;
  try {
    for (let row = 0; written < bytes; row += CHUNK_ROWS) {
      const lines = Array.from({ length: CHUNK_ROWS }, (_, index) => line(row + index));
      const chunk = Buffer.from(`${lines.join("\n")}\n`);
      writeSync(file, chunk);
      written += chunk.length;
    }
    return written;
  } finally {
    closeSync(file);
  }
}

function line(index: number): string {
  const question = `${STORY.replace("N", String(index)).repeat(1 + (index % 7))}How many rolls are that?`;
  const system = index % 3 === 0 ? [{ role: "system", content: "Lös die Aufgabe Schritt für Schritt." }] : [];
  const example =
    index % 5 === 0
      ? [
          { role: "user", content: "2 + 2?" },
          { role: "assistant", content: "4" },
        ]
      : [];
  return JSON.stringify({
    messages: [...system, ...example, { role: "user", content: question }],
    rewards: index % 2 === 0 ? ["accuracy"] : ["accuracy", "brevity"],
    metadata: { expected_answer: String(index * 3), source: "generated", id: index },
  });
}
