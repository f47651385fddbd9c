import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { hasPython } from "./has-python.ts";
import { runPython } from "./run-python.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "spotter-overlay-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** Applies lists of commands one after the other; what was said of each. */
async function applied(dir: string, lists: string[][], variables: Record<string, string> = {}) {
  const program = `
import json, os
from pathlib import Path
from spotter_agent.errors import JobError
from spotter_agent.overlay import run_overlay
for commands in json.loads(os.environ["LISTS"]):
    said = []
    try:
        run_overlay(commands, dict(os.environ), Path(${JSON.stringify(dir)}), said.append, ${JSON.stringify(join(dir, "marks"))})
    except JobError as error:
        said.append(error.message)
    print(json.dumps(said))
`;
  const lines = await runPython(program, { LISTS: JSON.stringify(lists), ...variables });
  return lines.map((line) => JSON.parse(line) as string[]);
}

const counting = (dir: string, word: string) => `echo ${word} >> ${join(dir, "ran")}`;
const ran = (dir: string) => readFileSync(join(dir, "ran"), "utf8").trim().split("\n");

describe.runIf(hasPython)("the commands of an image overlay, where there is no image to change", () => {
  it("run once, and again after others have changed what they made", async () => {
    const dir = folder();
    const [one, two] = [[counting(dir, "one")], [counting(dir, "two")]];
    const said = await applied(dir, [one, one, two, one, []]);
    expect(ran(dir)).toEqual(["one", "two", "one"]);
    expect(said[1]).toEqual([expect.stringContaining("applied before")]);
    expect(said[4]).toEqual([]);
  });

  it("run again after one of them failed", async () => {
    const dir = folder();
    const broken = [counting(dir, "one"), `test -e ${join(dir, "fixed")}`];
    const [first] = await applied(dir, [broken]);
    expect(first?.at(-1)).toContain("ended with exit code 1");
    writeFileSync(join(dir, "fixed"), "");
    await applied(dir, [broken, broken]);
    expect(ran(dir)).toEqual(["one", "one"]);
  });

  it("are heard while they run, and leave nothing running", async () => {
    const dir = folder();
    const [said] = await applied(dir, [["echo one >&2; sleep 300 & echo two"]]);
    // Its own output is what the one that goes on running holds open.
    expect(said?.slice(1)).toEqual(["  one", "  two"]);
  });

  it("are ended when they take too long, with all that they started", async () => {
    const dir = folder();
    const command = `sh -c 'echo $$ > ${join(dir, "pid")}; exec sleep 300'; true`;
    const lines = await runPython(
      `
import os
from pathlib import Path
from spotter_agent.errors import JobError
from spotter_agent.overlay import run_command
try:
    run_command(2, os.environ["COMMAND"], dict(os.environ), Path(${JSON.stringify(dir)}), print, 1.0)
except JobError as error:
    print(error.where, error.message[:59])
pid = int(Path(${JSON.stringify(dir)}, "pid").read_text())
state = Path(f"/proc/{pid}/stat")
print(not state.exists() or state.read_text().split(") ")[1][0] == "Z")
`,
      { COMMAND: command },
    );
    expect(lines).toEqual([
      "imageOverlay[2] The command of the image overlay took longer than 1 s: sh -",
      "True",
    ]);
  });

  it("belong to one Python: another one has not seen them", async () => {
    const dir = folder();
    const other = join(dir, "python-of-another-environment");
    writeFileSync(other, "#!/bin/sh\n", { mode: 0o755 });
    const list = [counting(dir, "one")];
    await applied(dir, [list]);
    await applied(dir, [list], { SPOTTER_ENGINE_PYTHON: other });
    await applied(dir, [list], { SPOTTER_ENGINE_PYTHON: other });
    expect(ran(dir)).toEqual(["one", "one"]);
  });

  it("do not run where the image says that it was made with them", async () => {
    const dir = folder();
    const list = [counting(dir, "one")];
    const hash =
      "import json, os\nfrom spotter_agent.overlay import overlay_hash\nprint(overlay_hash(json.loads(os.environ['LIST'])))";
    const [named = ""] = await runPython(hash, { LIST: JSON.stringify(list) });
    const [said] = await applied(dir, [list], { SPOTTER_IMAGE_OVERLAY: named });
    expect(said).toEqual(["image overlay: this image was made with it"]);
    await applied(dir, [list], { SPOTTER_IMAGE_OVERLAY: "of other commands" });
    expect(ran(dir)).toEqual(["one"]);
  });

  it("run in each container where nothing can be remembered", async () => {
    const dir = folder();
    writeFileSync(join(dir, "marks"), "a file where a folder must be");
    const list = [counting(dir, "one")];
    const [said] = await applied(dir, [list, list]);
    expect(said?.[0]).toContain("nothing can be remembered");
    expect(ran(dir)).toEqual(["one", "one"]);
  });
});
