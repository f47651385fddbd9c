import { createHash } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Control } from "../../../functions/control.ts";
import { isOnPath } from "../../../functions/local/on-path.ts";
import { checkUserCode } from "../../../functions/runs/check-user-code.ts";
import { putUserCode } from "../../../functions/user-code/user-code.ts";
import type { RunSpec } from "../../../sdk/schema/run-spec.ts";
import { openDeps, type OpenDeps } from "./open-deps.ts";

const bytes = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const hash = (code: Uint8Array) => createHash("sha256").update(code).digest("hex");
const bundle = bytes({ v: 1, files: { "rewards.py": "import nothing_of_this_name\n" } });

describe("user code in Python", () => {
  let open: OpenDeps;
  beforeAll(() => {
    open = openDeps();
  });
  afterAll(() => open.close());

  it("is kept without being run", async () => {
    expect(await putUserCode(open.deps, hash(bundle), bundle, "rewards.py", "python")).toMatchObject({
      name: "rewards.py",
      language: "python",
      exports: [],
      bytes: bundle.byteLength,
    });
  });

  it.each([
    ["no JSON", "import os\n", "user_code_invalid"],
    ["a path out of its folder", { v: 1, files: { "../rewards.py": "" } }, "invalid_input"],
    ["an absolute path", { v: 1, files: { "/tmp/rewards.py": "" } }, "invalid_input"],
    ["no Python", { v: 1, files: { "run.sh": "" } }, "invalid_input"],
  ])("is refused with %s", async (_what, value, code) => {
    const sent = bytes(value);
    await expect(putUserCode(open.deps, hash(sent), sent, "a.py", "python")).rejects.toMatchObject({ code });
  });

  it("is refused at launch where there is no python3, and where it is no Python", async () => {
    const control = (hasPython: boolean | undefined) =>
      ({
        ...open.deps,
        config: { ...(hasPython !== undefined && { hasPython: () => hasPython }) },
      }) as unknown as Control;
    const spec = (sha256: string) =>
      ({
        python: { code: { sha256, secrets: [] }, rewards: { file: "rewards.py" } },
      }) as unknown as RunSpec;
    for (const without of [false, undefined])
      await expect(checkUserCode(control(without), spec(hash(bundle)))).rejects.toMatchObject({
        code: "python_missing",
        where: "rewards.py",
      });
    await putUserCode(open.deps, hash(bundle), bundle, "rewards.py", "python");
    expect(await checkUserCode(control(true), spec(hash(bundle)))).toEqual([]);
    const { code } = await open.upload(`import { reward } from "spotter"; export const a = reward(() => 1);`);
    await expect(checkUserCode(control(true), spec(code.sha256))).rejects.toMatchObject({
      code: "user_code_invalid",
    });
  });

  it("is warned of at launch where it asks a judge and has nothing to ask with", async () => {
    const control = { ...open.deps, config: { hasPython: () => true } } as unknown as Control;
    const asking = bytes({
      v: 1,
      files: { "rewards.py": "score = await llm_judge(prompt, secrets=args.secrets)" },
    });
    await putUserCode(open.deps, hash(asking), asking, "rewards.py", "python");
    await open.deps.secrets.set("OPENAI_API_KEY", "sk-of-a-test");
    const warnings = (secrets: string[]) =>
      checkUserCode(control, {
        python: { code: { sha256: hash(asking), secrets }, rewards: { file: "rewards.py" } },
      } as unknown as RunSpec);
    expect(await warnings([])).toEqual([
      expect.stringMatching(/^rewards\.py asks a model with llm_judge, .*--secret OPENAI_API_KEY/),
    ]);
    expect(await warnings(["OPENAI_API_KEY"])).toEqual([]);
  });

  it("needs a program that can be started", () => {
    const program = join(open.folder, "python-of-a-test");
    writeFileSync(program, "");
    expect(isOnPath("python-of-a-test", `/nowhere:${open.folder}`)).toBe(false);
    chmodSync(program, 0o755);
    expect(isOnPath("python-of-a-test", `/nowhere:${open.folder}`)).toBe(true);
    expect(isOnPath("python-of-a-test")).toBe(false);
  });
});
