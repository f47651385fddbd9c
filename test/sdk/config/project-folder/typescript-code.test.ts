import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { typescriptCode } from "../../../../sdk/config/project-folder/typescript-code.ts";
import { short } from "./check.ts";
import { projectFolder } from "./folder.ts";

const read = (files: Record<string, string>) =>
  typescriptCode(join(projectFolder({ ...files }), "rewards.ts"), "rewards.ts");

describe("rewards.ts", () => {
  it("exports rewards however they are written, and other things beside them", async () => {
    const { items, findings, isReadable, isMath } = await read({
      "other.ts": `import { reward } from "spotter";\nexport const borrowed = reward(() => 1);\n`,
      "rewards.ts": `import { reward, type Reward } from "spotter";
export { borrowed } from "./other.ts";
export * as everything from "./other.ts";
const inner = reward(() => 1);
export { inner as renamed };
export const plain = reward(() => 1);
export const typed: Reward = reward({ weight: 2 }, () => 1);
export const broken =
  reward(() => 1);
export const wrapped = twice(reward(() => 1));
export const $dollar = reward(() => 1);
export const limit = 5;
export const names = ["a"];
export const helper = (text: string) => text.length;
export const asyncHelper = async (text: string) => text.length;
export function twice<T>(value: T): T { return value; }
export class Judge {}
export type Kind = "a";
`,
    });
    expect([findings, isReadable, isMath]).toEqual([[], true, false]);
    expect(items.map(({ name }) => name).sort()).toEqual(
      ["$dollar", "borrowed", "broken", "everything", "plain", "renamed", "typed", "wrapped"].sort(),
    );
    expect(items.find(({ name }) => name === "typed")?.position).toEqual({ line: 7, column: 14 });
  });

  it("is told where it does not bundle, and where code is refused later", async () => {
    const broken = await read({
      "rewards.ts": `import { reward } from "spotter";\nexport const a = reward(() => {;\n`,
    });
    expect(broken.isReadable).toBe(false);
    expect(short(broken.findings)[0]).toMatch(/^code_syntax 3:\d+$/);
    const missing = await read({ "rewards.ts": `import x from "not-there";\nexport const a = x;\n` });
    expect(missing.findings[0]).toMatchObject({
      line: 1,
      hint: expect.stringContaining("npm install not-there") as string,
    });
    const refused = await read({
      "rewards.ts": `export const a = make(eval("1"));\nfunction make(x: number) { return x; }\n`,
    });
    expect(short(refused.findings)).toEqual(["W code_refused 1:23"]);
  });
});
