import { describe, expect, it } from "vitest";
import { hasPython } from "./has-python.ts";
import { runPython } from "./run-python.ts";

/** Runs a program that follows a folder: `look()` gives steps and values as they come, `said` what was warned of. */
async function follow(program: string): Promise<unknown> {
  const [line = ""] = await runPython(`
import json, os, shutil, tempfile
from pathlib import Path
from event_writer import *
from spotter_agent.metric_files import MetricFiles
folder = Path(tempfile.mkdtemp())
said = []
def look(is_over=False):
    return [[each.step, each.value] for _, numbers in files.look(is_over) for each in numbers]
def at(step): return record(event(step, simple("loss", step / 2)))
try:
${program.replaceAll(/^/gm, "    ")}
finally:
    shutil.rmtree(folder)
`);
  return JSON.parse(line);
}

describe.runIf(hasPython)("metric files", { timeout: 20_000 }, () => {
  it("are read as they grow, each number once, wherever a look cuts them", async () => {
    const told = await follow(`
files = MetricFiles([folder, folder], said.append)
event_file, line_file = folder / "sub" / "events.out.tfevents.1.host", folder / "more.jsonl"
event_file.parent.mkdir()
events = b"".join(at(step) for step in range(6))
lines = b"".join(b'{"step": %d, "loss": %f, "name": "x", "on": true}\\n' % (step, step / 4) for step in range(6))
found = {True: [], False: []}
for end in range(max(len(events), len(lines))):
    with open(event_file, "ab") as file: file.write(events[end:end + 1])
    with open(line_file, "ab") as file: file.write(lines[end:end + 1])
    for path, numbers in files.look():
        found[path == line_file].extend([each.step, each.value] for each in numbers)
print(json.dumps([found[False], found[True], look(True), said]))
`);
    const steps = [0, 1, 2, 3, 4, 5];
    expect(told).toEqual([
      steps.map((step) => [step, step / 2]),
      steps.map((step) => [step, step / 4]),
      [],
      [],
    ]);
  });

  it("are of this engine alone: what was there before is passed over, a file put in its place is not", async () => {
    const told = await follow(`
path = folder / "events.out.tfevents.1.host"
path.write_bytes(at(1) + at(2))
files = MetricFiles([folder], said.append)
told = [look()]
with open(path, "ab") as file: file.write(at(3))
told.append(look())
path.with_suffix(".new").write_bytes(at(4) * 3 + at(5) * 3)
os.replace(path.with_suffix(".new"), path)
told.append(look())
path.write_bytes(at(6))
told.append(look())
path.unlink()
told.append(look(True))
print(json.dumps([told, said]))
`);
    const four = [4, 2];
    const five = [5, 2.5];
    expect(told).toEqual([[[], [[3, 1.5]], [four, four, four, five, five, five], [[6, 3]], []], []]);
  });

  it("end in the middle of a record where a writer was killed, which is said once", async () => {
    const told = await follow(`
files = MetricFiles([folder], said.append)
(folder / "events.out.tfevents.1.host").write_bytes(at(1) + at(2)[:-3])
(folder / "a.jsonl").write_bytes(b'{"step": 1, "loss": 1}\\n{"step": 2, "loss"')
(folder / "b.jsonl").write_bytes(b'{"rollout/step": 3, "loss": 3}')
told = [look(), look(True), look(True)]
print(json.dumps([told, said]))
`);
    expect(told).toEqual([
      [
        [
          [1, 1],
          [1, 0.5],
        ],
        [[3, 3]],
        [],
      ],
      [
        "metric file a.jsonl: lines that are no JSON object with a step are passed over",
        "metric file events.out.tfevents.1.host: its last record is not whole",
      ],
    ]);
  });

  it("cost no more than themselves where they are damaged, endless, or no files", async () => {
    const told = await follow(`
files = MetricFiles([folder], said.append)
path = folder / "events.out.tfevents.1.host"
with open(path, "wb") as file:
    file.write(at(1) + b"\\x01" * 100 + at(2))
(folder / "lines.jsonl").write_bytes(b'[1]\\n{"step": -1, "a": 1}\\n{"step": true, "a": 1}\\n' + b"[" * 90_000 + b'\\n{"step": 1, "a": 1e999, "b": NaN, "c": 4}\\n')
(folder / "long.jsonl").write_bytes(b"x" * 9_000_000)
os.mkfifo(folder / "pipe.jsonl")
os.symlink(folder / "lines.jsonl", folder / "link.jsonl")
(folder / "notes.txt").write_text("of no concern")
told = [sorted(look())]
with open(folder / "long.jsonl", "ab") as file: file.write(b"\\n" + b'{"step": 5, "a": 5}\\n')
with open(path, "ab") as file: file.write(b"\\x02" * 100 + at(3))
told.append(sorted(look()))
print(json.dumps([told, said]))
`);
    expect(told).toEqual([
      [
        [
          [1, 0.5],
          [1, 4],
          [2, 1],
        ],
        [
          [3, 1.5],
          [5, 5],
        ],
      ],
      [
        "metric file events.out.tfevents.1.host: damaged records are passed over",
        "metric file lines.jsonl: lines that are no JSON object with a step are passed over",
        "metric file long.jsonl: lines of more than a megabyte are passed over",
      ],
    ]);
  });

  it("pass over pictures of many megabytes that are not all there yet", async () => {
    const told = await follow(`
files = MetricFiles([folder], said.append)
picture = record(event(1, bytes_field(1, b"picture") + bytes_field(4, bytes(1_500_000))), unchecked)
path = folder / "events.out.tfevents.1.host"
path.write_bytes(at(1) + picture[:1_000])
told = [look()]
with open(path, "ab") as file: file.write(picture[1_000:700_000])
told.append(look())
with open(path, "ab") as file: file.write(picture[700_000:] + at(2))
told.append(look(True))
print(json.dumps([told, said]))
`);
    expect(told).toEqual([[[[1, 0.5]], [], [[2, 1]]], []]);
  });

  it("do not fill the memory with names that are made up, or with files", async () => {
    const told = await follow(`
files = MetricFiles([folder], said.append)
with open(folder / "a.jsonl", "w") as file:
    for step in range(1_200): file.write(json.dumps({"step": step, f"name{step}": 1}) + "\\n")
count = len(look())
for number in range(250): (folder / f"b{number}.jsonl").write_text('{"step": 1, "name1": 1}\\n')
print(json.dumps([count, len(look()), len(said)]))
`);
    expect(told).toEqual([1_000, 199, 2]);
  });

  it("have names that fit into one item of the store together", async () => {
    const told = await follow(`
files = MetricFiles([folder], said.append)
names = ["é" * 200 + str(number) for number in range(900)]
(folder / "a.jsonl").write_text("".join(json.dumps({"step": 1, name: 1}) + "\\n" for name in names))
(folder / "b.jsonl").write_text(json.dumps({"step": 2, "a": 1, names[0]: 1, names[899]: 1}) + "\\n")
taken = {number.tag for _, numbers in files.look() for number in numbers}
print(json.dumps([len(json.dumps(sorted(taken))) < 70_000, len(taken) > 40, names[899] in taken, "a" in taken, len(said)]))
`);
    expect(told).toEqual([true, true, false, true, 1]);
  });

  it("are found in folders of any number and depth, and one warning is enough", async () => {
    const told = await follow(`
files = MetricFiles([folder], said.append)
for number in range(300):
    (folder / f"d{number}").mkdir()
    (folder / f"d{number}" / "a.jsonl").write_text('{"step": 1, "a": 1}\\n')
os.chdir(folder)
# Deeper than Python's stack, and with a path that is too long for any call.
for number in range(1_200): os.mkdir("d"); os.chdir("d")
os.chdir(folder)
for number in range(16): os.mkdir("d" * 250); os.chdir("d" * 250)
Path("a" * 100 + ".jsonl").write_text("")
os.chdir("/")
count = len(look())
os.system(f"rm -rf {folder}/*")
print(json.dumps([count, len(said)]))
`);
    expect(told).toEqual([200, 1]);
  });

  it("make room when they are removed", async () => {
    const told = await follow(`
files = MetricFiles([folder], said.append)
told = []
for step in range(250):
    path = folder / f"step{step}.jsonl"
    path.write_text(json.dumps({"step": step, "a": step}) + "\\n")
    told += look()
    path.unlink()
    told += look()
print(json.dumps([len(told), told[-1], said]))
`);
    expect(told).toEqual([250, [249, 249], []]);
  });

  it("are read a part at a time, the rest of a large one at the next looks", async () => {
    const told = await follow(`
from spotter_agent.growing_file import CHUNK_BYTES, MAX_LOOK_BYTES
files = MetricFiles([folder], said.append)
line = b'{"step": 1, "a": 1, "b": "' + b"x" * 1_000 + b'"}\\n'
count = 2 * MAX_LOOK_BYTES // len(line) + 10
(folder / "a.jsonl").write_bytes(line * count)
sizes = [[len(numbers) for _, numbers in files.look()] for _ in range(2)]
rest = [len(numbers) for _, numbers in files.look(True)]
most = max(max(looked) for looked in sizes) * len(line)
print(json.dumps([[len(looked) for looked in sizes], most <= CHUNK_BYTES, len(rest), sum(map(sum, sizes + [rest])) == count]))
`);
    expect(told).toEqual([[4, 4], true, 1, true]);
  });
});

describe.runIf(hasPython)("a number of two sources", () => {
  it("is told once, and again where the file has more of it than the line printed", async () => {
    const [line = ""] = await runPython(`
import json
from spotter_agent.metric_merge import MetricMerge
from spotter_agent.metric_number import Number
merge = MetricMerge()
def file(step, value, is_single=True): return merge.file(Number("train/loss", step, value, is_single))
def line(step, value): return merge.line(step, {"train/loss": value}) != {}
single = 0.10000000149011612
told = [
    line(0, 0.1), file(0, single),           # the line has all of it
    line(1, 0.1235), file(1, 0.12345679),    # the line was rounded
    file(2, single), line(2, 0.1),           # the file was first
    file(3, 0.12345679), line(3, 0.1235),    # and has more
    line(4, 0.5), line(4, 0.6), file(4, 0.5), file(4, 0.6000000238418579), # steps of the optimizer, or a try anew
    file(5, 0.5), line(5, 0.6),              # another number
    line(6, 0.1), file(6, 0.1, False), file(6, 0.2, False),
    line(7, 1e300), file(7, 1.0),
]
for step in range(8, 1_100): line(step, 1.0)
for number in range(1_000): line(1_100, number), file(1_100, number + 0.5)
kept = merge._steps[1_100]["train/loss"]
print(json.dumps([told, len(merge._steps), len(kept.lines), len(kept.files)]))
`);
    expect(JSON.parse(line)).toEqual([
      [
        ...[true, false],
        ...[true, true],
        ...[true, false],
        ...[true, false],
        ...[true, true, false, false],
        ...[true, true],
        ...[true, false, true],
        ...[true, true],
      ],
      1_000,
      100,
      100,
    ]);
  });
});

describe.runIf(hasPython)("the step of a number", () => {
  it("is that of the rollout, as the file or the options tell", async () => {
    const [line = ""] = await runPython(`
import json
from spotter_agent.engines.slime_steps import SlimeSteps
def steps(words, *told):
    counts = SlimeSteps(words.split())
    return [counts.rollout(tag, step) for tag, step in told]
batches = "--rollout-batch-size 4 --n-samples-per-prompt 8 --global-batch-size 16"
print(json.dumps([
    steps("", ("train/loss", 3), ("rollout/x", 4), ("my/own", 9)),
    steps("--num-steps-per-rollout 3", ("train/critic-loss", 7), ("perf/x", 7)),
    steps(batches, ("train/loss", 5)),
    # As many as there are: the last words win, as argparse has it.
    steps(batches + " --global-batch-size 32", ("train/loss", 5)),
    steps(batches, ("rollout/x", 9), ("train/loss", 9), ("train/loss", 11), ("rollout/x", 10), ("train/loss", 12)),
    steps(batches + " --wandb-always-use-train-step", ("rollout/x", 10), ("train/loss", 11), ("eval/x", 8)),
]))
`);
    expect(JSON.parse(line)).toEqual([[3, 4, 9], [2, 7], [2], [5], [9, 9, 9, 10, 10], [5, 5, 4]]);
  });
});
