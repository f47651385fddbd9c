import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksOf, examplesOf, pages, root, type Snippet } from "./snippets.ts";
import { typeErrors } from "./type-check.ts";

/** Docstrings that users see in their editor: of what `import "spotter"` and its neighbours export. */
function exported(): string[] {
  const entries = ["sdk/index.ts", "sdk/cli/render/index.ts", "sdk/local/index.ts"];
  return entries.flatMap((entry) => {
    const text = readFileSync(join(root, entry), "utf8");
    const files = [...text.matchAll(/from "(\.[^"]+\.ts)"/g)].map(([, path = ""]) => join(entry, "..", path));
    return [entry, ...files];
  });
}

const sources = [...new Set(exported())];
const known = sources.flatMap(examplesOf);
const shown = pages()
  .flatMap(blocksOf)
  .filter(({ language }) => language === "ts");

/** What people copy as a whole stands alone; elsewhere a line or two may lean on the text around them. */
const isFragment = ({ where }: Snippet) => !/^(README\.md|examples\/)/.test(where);

describe("code that is shown", () => {
  it("fits the types it is written against", { timeout: 60_000 }, () => {
    expect(shown.length).toBeGreaterThanOrEqual(5);
    expect(known.length).toBeGreaterThanOrEqual(15);
    const wrong: Snippet = { where: "docs/here", language: "ts", code: "const n: number = models.get('x');" };
    expect(typeErrors([...shown, ...known, wrong], isFragment)).toEqual([
      "docs/here: Type 'Model' is not assignable to type 'number'.",
    ]);
  });
});
