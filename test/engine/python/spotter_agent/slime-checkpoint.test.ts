import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { hasPython } from "./has-python.ts";
import { runPython } from "./run-python.ts";

let save = "";
beforeEach(() => {
  save = mkdtempSync(join(tmpdir(), "spotter-save-"));
  onTestFinished(() => rmSync(save, { recursive: true }));
});

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(save, path)), { recursive: true });
    writeFileSync(join(save, path), text);
  }
}

/** What expressions over the folder `save` come to. */
async function values(...expressions: string[]): Promise<unknown[]> {
  const lines = await runPython(`
import json
from pathlib import Path
from spotter_agent.engines.slime_checkpoint import *
save = Path(${JSON.stringify(save)})
def plain(value):
    if isinstance(value, dict): return {str(k): str(v.relative_to(save)) for k, v in value.items()}
    return value
def told(compute):
    try: return plain(compute())
    except JobError as error: return error.code
print(json.dumps([told(each) for each in (${expressions.map((each) => `lambda: ${each}`).join(", ")},)]))
`);
  return JSON.parse(lines[0] ?? "") as unknown[];
}

const SHARDS = ["__0_0.distcp", "__1_0.distcp"];
const step = (number: number, shards = SHARDS, named = shards) => {
  const folder = `iter_${String(number - 1).padStart(7, "0")}`;
  const all = Object.fromEntries(shards.map((name) => [`${folder}/${name}`, "shard"]));
  return {
    ...all,
    [`${folder}/.metadata`]: `pickled ${named.join(" and ")}`,
    [`${folder}/common.pt`]: "common",
  };
};
// The end of an archive that has nothing in it.
const ARCHIVE = `PK\u0005\u0006${"\0".repeat(18)}`;
const TRACKER = "latest_checkpointed_iteration.txt";

describe.runIf(hasPython)("a checkpoint of slime", () => {
  it("is there up to what the tracker says, with every shard that its index names", async () => {
    write({
      [TRACKER]: "7",
      ...step(2),
      ...step(4, SHARDS.slice(0, 1), SHARDS),
      ...step(6),
      "iter_0000005/__1_0.distcp": "",
      ...step(8),
      ...step(10),
      "iter_0000011/__0_0.distcp": "no index",
      "iter_odd/.metadata": "__0_0.distcp",
    });
    expect(await values("written_steps(save)")).toEqual([[2, 8]]);
    write({ [TRACKER]: "half" });
    expect(await values("written_steps(save)")).toEqual([[]]);
  });

  it("has weights when the index names nothing that is not there", async () => {
    const index = (...names: string[]) =>
      JSON.stringify({ weight_map: Object.fromEntries(names.map((n) => [n, n])) });
    const name = "model.safetensors.index.json";
    write({ "a/config.json": "{}", "a/one": "1", "a/two": "2", [`a/${name}`]: index("one", "two") });
    write({ "b/config.json": "{}", "b/one": "1", [`b/${name}`]: index("one", "two") });
    write({ "c/config.json": "{}", "c/one": "1", [`c/${name}`]: index("one").slice(0, -4) });
    write({ "d/one": "1", [`d/${name}`]: index("one") });
    write({ "e/config.json": "{}", [`e/${name}`]: "[]" });
    write({ "f/config.json": "{}", [`f/${name}`]: index() });
    const folders = ["a", "b", "c", "d", "e", "f", "none"].map((each) => `has_weights(save / "${each}")`);
    expect(await values(...folders)).toEqual([true, false, false, false, false, false, false]);
  });

  it("is finished with where the dataset stood, and with the critic where there is one", async () => {
    write({ [TRACKER]: "1", ...step(2) });
    expect(await values("is_finished(save, 2)")).toEqual([false]);
    write({ "rollout/global_dataset_state_dict_1.pt": "PK half an archive" });
    expect(await values("is_finished(save, 2)", "is_finished(save, 2, False)")).toEqual([false, true]);
    write({ "rollout/global_dataset_state_dict_1.pt": ARCHIVE });
    expect(await values("is_finished(save, 2)")).toEqual([true]);
    write({ "critic/latest_checkpointed_iteration.txt": "0" });
    expect(await values("is_finished(save, 2)")).toEqual([false]);
    write(Object.fromEntries(Object.entries(step(2)).map(([path, text]) => [`critic/${path}`, text])));
    expect(await values("is_finished(save, 2)", "sorted(checkpoint_files(save, 2))")).toEqual([
      true,
      [
        ...["trainer/critic/iter_0000001/.metadata", "trainer/critic/iter_0000001/__0_0.distcp"],
        ...["trainer/critic/iter_0000001/__1_0.distcp", "trainer/critic/iter_0000001/common.pt"],
        ...["trainer/iter_0000001/.metadata", "trainer/iter_0000001/__0_0.distcp"],
        ...["trainer/iter_0000001/__1_0.distcp", "trainer/iter_0000001/common.pt"],
        "trainer/rollout/global_dataset_state_dict_1.pt",
      ],
    ]);
  });

  it("has its files, and follows no link out of it", async () => {
    write({ "f/größe 終.json": "1", "f/deep/x": "2" });
    symlinkSync("größe 終.json", join(save, "f/inside"));
    symlinkSync("nowhere", join(save, "f/dangling"));
    symlinkSync(".", join(save, "f/loop"));
    const names = "list(files_below(save / 'f'))";
    expect(await values(names)).toEqual([["deep/x", "größe 終.json", "inside"]]);
    symlinkSync("/etc", join(save, "f/deep/out"));
    expect(await values(names, "files_below(save / 'none')")).toEqual(["engine_failed", {}]);
  });

  it("is converted when it names its release, and that is whole", async () => {
    write({ [TRACKER]: "release", "release/.metadata": "__0_0.distcp" });
    expect(await values("is_converted(save)")).toEqual([false]);
    write({ "release/__0_0.distcp": "1" });
    expect(await values("is_converted(save)")).toEqual([true]);
    write({ [TRACKER]: "1" });
    expect(await values("is_converted(save)", "is_converted(save / 'none')")).toEqual([false, false]);
  });

  it("is settled when all of it is there and nothing has changed since the last look", async () => {
    const index = JSON.stringify({ weight_map: { w: "shard" } });
    const state = "rollout/global_dataset_state_dict_1.pt";
    write({ [TRACKER]: "1", ...step(2), "hf/1/config.json": "{}", "hf/1/shard": "1" });
    const lines = await runPython(`
import types
from pathlib import Path
from spotter_agent.saver import Saver
save = Path(${JSON.stringify(save)})
def saver(has_weights): return Saver(None, None, save, 0, 0, 4, dict, has_weights, True, None, 1.0)
both, shards = saver(True), saver(False)
def look(*changes):
    for path, text in changes: (save / path).parent.mkdir(parents=True, exist_ok=True); (save / path).write_text(text)
    print(both.is_settled(2), shards.is_settled(2), flush=True)
look(); look()
archive = "PK\\x05\\x06" + "\\0" * 18
look(("${state}", "half of it")); look()
look(("${state}", archive)); look()
look(("hf/1/model.safetensors.index.json", ${JSON.stringify(index)})); look()
look(("${state}", "more" + archive)); look(); look()
look(("critic/${TRACKER}", "0"))
`);
    expect(lines).toEqual([
      // Without where the dataset stood.
      ...["False False", "False False", "False False", "False False"],
      // Without weights, which one of them waits for.
      ...["False False", "False True"],
      ...["False False", "True True"],
      ...["False False", "True True", "True True"],
      // A critic that is not whole.
      "False False",
    ]);
  });
});
