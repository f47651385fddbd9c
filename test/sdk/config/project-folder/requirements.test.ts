import { describe, expect, it } from "vitest";
import { requirementFindings } from "../../../../sdk/config/project-folder/requirements.ts";
import { readEnv } from "../../../../sdk/config/project-folder/secrets.ts";

const lines = (text: string) => requirementFindings(text, "requirements.txt").map(({ line }) => line);

describe("requirements.txt", () => {
  it.each([
    "requests>=2 # a comment",
    "requests",
    "math-verify==0.5.0",
    "uvicorn[standard] >= 0.2, < 1",
    "torch (>=2)",
    "git+https://github.com/a/b@main#egg=b",
    "b @ git+https://github.com/a/b",
    "pkg @ https://host/pkg-1.0.whl",
    'pywin32; sys_platform=="win32"',
    "requests==2.0 --hash=sha256:abc --hash=sha256:def",
    "requests \\\n  >=2 \\\n  # trailing",
    "-r other.txt",
    "--index-url https://host/simple",
    "./local/pkg",
    "# only a comment",
    "\uFEFFrequests\r\n\r\nnumpy ~= 1.2.*",
    "",
  ])("takes what pip takes (28): %j", (text) => expect(lines(text)).toEqual([]));

  it.each([
    ["[project]\nname = 'x'\n", [1]],
    ["requests = '2'\n", [1]],
    ["requests>=\n", [1]],
    ["ok\n=2\n===\n", [2, 3]],
    ["requests 2.0\n", [1]],
    ["requests==2;\n", [1]],
  ])("refuses what it would refuse (25): %j", (text, expected) => expect(lines(text)).toEqual(expected));
});

describe(".env", () => {
  it("is read line by line", () => {
    const { values, badLines } = readEnv(
      "# x\nA=1\nexport B='two words' # c\n\nC=\"d\"\nnonsense\nD = e # f\n",
    );
    expect([...values].map(([name, { value }]) => [name, value])).toEqual([
      ["A", "1"],
      ["B", "two words"],
      ["C", "d"],
      ["D", "e"],
    ]);
    expect(badLines).toEqual([6]);
  });
});
