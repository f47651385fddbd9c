import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pythonWithRequirements, type Finished } from "../../../engine/training/python-requirements.ts";

let cacheFolder: string;
let lines: string[];
beforeEach(() => {
  cacheFolder = mkdtempSync(join(tmpdir(), "spotter-requirements-"));
  lines = [];
});
afterEach(() => rmSync(cacheFolder, { recursive: true }));

const log = { info: (line: string) => void lines.push(line), warn: (line: string) => void lines.push(line) };
const WELL: Finished = { code: 0, output: "pip 25.0 from /usr/lib/python3 (python 3.11)" };

/** Programs of a machine, as a test wants them: what pip says, and an environment where one is made. */
function machine(install: Finished = WELL, more: { version?: Finished; aged?: boolean } = {}) {
  const asked: string[] = [];
  const run = (program: string, words: readonly string[], timeoutMs: number): Promise<Finished> => {
    asked.push(
      [
        program.replace(cacheFolder, "CACHE").replace(/\/[0-9a-f]{32}.*\//, "/NEW/"),
        ...words.slice(0, 3),
      ].join(" "),
    );
    if (words[2] === "--version") return Promise.resolve(more.version ?? WELL);
    if (words[1] === "venv") {
      const python = join(words.at(-1) ?? "", "bin", "python");
      mkdirSync(dirname(python), { recursive: true });
      writeFileSync(python, "");
      return Promise.resolve(WELL);
    }
    expect(timeoutMs).toBe(600_000);
    if (more.aged && words[2] === "--python")
      return Promise.resolve({ code: 2, output: "no such option: --python" });
    return Promise.resolve(install);
  };
  return { asked, run };
}

describe("requirements.txt", () => {
  const wanted = (text: string, { run }: ReturnType<typeof machine>) =>
    pythonWithRequirements({ text, python: "python3", cacheFolder, log, run });

  it("is installed once for each text, into an environment that the next run finds", async () => {
    const first = machine();
    const python = await wanted("# ours\nsix==1.17.0\n", first);
    expect(existsSync(python)).toBe(true);
    expect(first.asked).toEqual([
      "python3 -m pip --version",
      "python3 -m venv --system-site-packages",
      "python3 -m pip --python",
    ]);
    expect(lines).toEqual(["python: installing requirements.txt"]);
    const second = machine();
    expect(await wanted("# ours\nsix==1.17.0\n", second)).toBe(python);
    expect(second.asked).toEqual(["python3 -m pip --version"]);
    expect(await wanted("six==1.16.0\n", machine())).not.toBe(python);
    expect(readdirSync(cacheFolder).length).toBe(2);
  });

  it("asks nobody where it names nothing, and is left alone where there is no pip", async () => {
    const idle = machine();
    expect(await wanted("\n  # nothing yet\n", idle)).toBe("python3");
    expect(idle.asked).toEqual([]);
    const bare = machine(WELL, { version: { code: 1, output: "No module named pip" } });
    expect(await wanted("six\n", bare)).toBe("python3");
    expect(lines).toEqual(["python: requirements.txt is not installed, because python3 has no pip"]);
  });

  it("fails with pip's last lines, and leaves nothing behind", async () => {
    const output = Array.from({ length: 30 }, (_, index) => `line ${index}`).join("\n");
    await expect(wanted("sicks\n", machine({ code: 1, output }))).rejects.toMatchObject({
      code: "user_code_invalid",
      message: expect.stringMatching(
        /could not be installed:\n {2}line 22\n(?: {2}line \d+\n)+ {2}line 29$/,
      ) as string,
      where: "requirements.txt",
    });
    await expect(wanted("sicks\n", machine({ code: null, output: "still" }))).rejects.toMatchObject({
      message: "requirements.txt was not installed within 600 s:\n  still",
    });
    expect(readdirSync(cacheFolder)).toEqual([]);
  });

  it("is installed by the environment's own pip where pip is too old to do it from outside", async () => {
    const old = machine(WELL, { aged: true });
    await wanted("six\n", old);
    expect(old.asked.at(-1)).toBe("CACHE/NEW/python -m pip install");
  });
});
