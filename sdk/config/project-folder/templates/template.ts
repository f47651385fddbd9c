/** A project to begin with: what `spotter init` writes. */
export interface Template {
  /** One line for a list. */
  description: string;
  /** File name → text; `title` is what the project is called. */
  files: (title: string) => Record<string, string>;
}

/** Rows as train.jsonl. */
export function jsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

export function user(content: string): { role: "user"; content: string } {
  return { role: "user", content };
}

/** A title within double quotes of YAML; JSON's escapes are YAML's, too. */
export function quoted(title: string): string {
  return JSON.stringify(title);
}

/** What every README ends with. */
export function commands(extra = ""): string {
  return `\`\`\`
spotter validate            # check everything, offline
spotter run --dry-run       # what would run, and whence each value comes
spotter run --watch         # train, and follow it
\`\`\`
${extra}`;
}
