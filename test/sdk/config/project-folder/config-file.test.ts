import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readConfigFile } from "../../../../sdk/config/project-folder/config-file.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-config-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Reads it as a user to whom modes mean something: to root nothing is closed. */
function readAsUser(folder: string): unknown {
  const module = new URL("../../../../sdk/config/project-folder/config-file.ts", import.meta.url).href;
  const script = `const { readConfigFile } = await import(${JSON.stringify(module)});
    console.log(JSON.stringify(await readConfigFile(process.argv[1])))`;
  const words = ["--no-warnings", "--input-type=module", "-e", script, folder];
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  return JSON.parse(spawnSync(process.execPath, words, { encoding: "utf8", ...user }).stdout);
}

describe("a project folder that cannot be read", () => {
  // The right to list, and the right to look into, are not the same.
  it.each(["600", "300"])("of mode %s is said to be that, and not to be empty", (mode) => {
    const folder = newFolder();
    writeFileSync(join(folder, "config.yml"), "dataset_type: rl\n");
    chmodSync(folder, Number.parseInt(mode, 8));
    expect(readAsUser(folder)).toMatchObject({
      text: "",
      findings: [
        {
          code: "config_missing",
          message: `the folder ${folder} cannot be read: EACCES`,
          hint: expect.stringContaining(`chmod u+rx ${folder}`) as string,
        },
      ],
    });
  });

  it("such as a link to itself, is not said to be absent", async () => {
    const path = join(newFolder(), "loop");
    symlinkSync(path, path);
    expect((await readConfigFile(path)).findings).toMatchObject([
      { message: `the folder ${path} cannot be read: ELOOP` },
    ]);
  });

  it("is something else than one without a configuration", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "empty"));
    expect((await readConfigFile(join(folder, "empty"))).findings).toMatchObject([
      { message: "there is none in this folder" },
    ]);
  });
});
