import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { pythonWithRequirements } from "../../engine/training/python-requirements.ts";

const log = { info: () => undefined, warn: () => undefined };

const hasPip = spawnSync("python3", ["-m", "pip", "--version"]).status === 0;
if (!hasPip) process.stderr.write("skipped: there is no pip for python3 on this machine\n");

describe.skipIf(!hasPip)("requirements.txt, with pip itself", () => {
  const cacheFolder = mkdtempSync(join(tmpdir(), "spotter-requirements-"));
  afterAll(() => rmSync(cacheFolder, { recursive: true }));

  it("makes a package importable", async () => {
    const wheels = join(cacheFolder, "wheels");
    mkdirSync(wheels);
    const wheel = join(wheels, "spotter_sample-1.0-py3-none-any.whl");
    spawnSync("python3", ["-c", WHEEL, wheel]);
    const text = `--no-index\n--find-links ${wheels}\nspotter-sample==1.0\n`;
    const python = await pythonWithRequirements({ text, python: "python3", cacheFolder, log });
    const { stdout } = spawnSync(python, ["-c", "import spotter_sample; print(spotter_sample.VALUE)"], {
      encoding: "utf8",
    });
    expect(stdout.trim()).toBe("17");
    await expect(
      pythonWithRequirements({
        text: "--no-index\nspotter-of-no-index\n",
        python: "python3",
        cacheFolder,
        log,
      }),
    ).rejects.toMatchObject({ message: expect.stringContaining("No matching distribution found") as string });
  });
});

/** A wheel is a zip file with three texts beside the module. */
const WHEEL = `
import sys, zipfile
info = "spotter_sample-1.0.dist-info/"
with zipfile.ZipFile(sys.argv[1], "w") as file:
    file.writestr("spotter_sample.py", "VALUE = 17\\n")
    file.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: spotter-sample\\nVersion: 1.0\\n")
    file.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    file.writestr(info + "RECORD", "")
`;
