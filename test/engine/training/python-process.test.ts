import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPython, type PythonCall, type PythonProcess } from "../../../engine/training/python-process.ts";
import { parseExactly } from "../../../sdk/schema/exact-json.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 on this machine\n");

const REWARDS = `
import os, subprocess, time
from rnow.core import RewardArgs, get_response, reward

children = []

@reward
def plain(args: RewardArgs, messages: list) -> float:
    print("judging", args.metadata["n"])
    mark = args.metadata["n"]
    if mark == 7:
        os._exit(3)
    return mark / 2

@reward
def exact(args: RewardArgs, messages: list) -> dict:
    return {"score": args.metadata["id"] % 1000, "reason": str(args.metadata["id"])}

@reward
def endless(args: RewardArgs, messages: list) -> float:
    while True:
        time.sleep(0.01)

@reward
async def blocking(args: RewardArgs, messages: list) -> float:
    if args.metadata["n"] == 1:
        time.sleep(60)
    return 1.0

@reward
async def waiting(args: RewardArgs, messages: list) -> float:
    import asyncio
    await asyncio.sleep(60)

@reward
def child(args: RewardArgs, messages: list) -> float:
    children.append(subprocess.Popen(["sleep", "60"]))
    return children[-1].pid

class Mute(Exception):
    def __str__(self):
        raise self

@reward
def loud(args: RewardArgs, messages: list) -> dict:
    mark = args.metadata["n"]
    if mark == 0:
        raise ValueError("x" * 100_000)
    if mark == 1:
        raise Mute()
    return {"score": 1, "metrics": [{str(n): n for n in range(65)}, {"x" * 101: 1}, 5, {"a": 1}][mark - 2]}

@reward
def environment(args: RewardArgs, messages: list) -> dict:
    return {"score": len([name for name in os.environ if name.startswith("SPOTTER_")]), "reason": os.environ["KEY"]}
`;

describe.skipIf(!hasPython)("a Python process beside the trainer", () => {
  const folder = mkdtempSync(join(tmpdir(), "spotter-python-"));
  const lines: string[] = [];
  const log = {
    info: (line: string) => void lines.push(line),
    warn: (line: string) => void lines.push(line),
  };
  const start = (file: string, more = {}) =>
    startPython({
      folder,
      workDir: folder,
      files: [file],
      secrets: { KEY: "granted" },
      environment: { ...process.env, SPOTTER_JOB_TOKEN: "x" },
      log,
      graceMs: 300,
      ...more,
    });
  const call = (name: string, n = 0, timeoutMs = 5_000): PythonCall => ({
    op: "reward",
    name,
    timeoutMs,
    metadata: { n },
    messages: [],
  });
  let python: PythonProcess;

  beforeAll(async () => {
    if (!hasPython) return;
    writeFileSync(join(folder, "rewards.py"), REWARDS);
    python = await start("rewards.py");
  });
  afterAll(async () => {
    await python.close();
    rmSync(folder, { recursive: true });
  });

  it("keeps the verdicts of all rows but the one that ends the process", async () => {
    const results = await python.callAll([5, 6, 7, 8, 9].map((n) => call("plain", n)));
    expect(results).toEqual([
      { value: 2.5 },
      { value: 3 },
      { error: { code: "reward_failed", message: "the Python process ended (exit code 3)" } },
      { value: 4 },
      { value: 4.5 },
    ]);
    expect(lines).toContain("python: judging 5");
  });

  it("takes no more than is stored of what a reward says", async () => {
    const [long, mute, ...rest] = await python.callAll([0, 1, 2, 3, 4, 5].map((n) => call("loud", n)));
    const start = `ValueError: ${"x".repeat(2_000 - "ValueError: ".length)}`;
    expect(long).toEqual({
      error: {
        code: "reward_failed",
        message: expect.stringMatching(`^${start} \\(at rewards.py:\\d+\\)$`) as string,
      },
    });
    expect(mute).toMatchObject({ error: { message: expect.stringMatching(/^Mute \(at rewards/) as string } });
    expect(rest).toEqual([
      { error: { code: "reward_invalid", message: "it returned 65 metrics; 64 are the most" } },
      {
        error: {
          code: "reward_invalid",
          message: "the name of a metric has 101 characters; 100 are the most",
        },
      },
      { error: { code: "reward_invalid", message: "its metrics are int, not a dict of numbers" } },
      { value: { score: 1, metrics: { a: 1 } } },
    ]);
  });

  it("loses the row alone that Python cannot read", async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 3_000; level++) deep = [deep];
    const results = await python.callAll([{ ...call("plain"), metadata: { n: 4, deep } }, call("plain", 2)]);
    expect(results).toEqual([
      { error: { code: "reward_failed", message: "the Python process ended (exit code 1)" } },
      { value: 1 },
    ]);
  });

  it("gives Python whole numbers with all their digits", async () => {
    const { metadata } = parseExactly('{"metadata":{"id":12345678901234567891}}') as {
      metadata: Record<string, unknown>;
    };
    expect(await python.callAll([{ ...call("exact"), metadata }])).toEqual([
      { value: { score: 891, reason: "12345678901234567891" } },
    ]);
  });

  it("gives up a function that does not end, and begins the next batch in a new process", async () => {
    const before = python.pid;
    const [slow, waiting, quick] = await python.callAll([
      call("endless", 0, 200),
      call("waiting", 0, 200),
      call("plain", 2),
    ]);
    for (const late of [slow, waiting])
      expect(late).toEqual({ error: { code: "reward_timeout", message: "it took more than 0.2 s" } });
    expect(quick).toEqual({ value: 1 });
    expect(await python.callAll([call("plain", 4)])).toEqual([{ value: 2 }]);
    expect(python.pid).not.toBe(before);
    expect(() => process.kill(before, 0)).toThrow("ESRCH");
  });

  it("ends a process that is held up and answers no more", async () => {
    const [held, free] = await python.callAll([call("blocking", 1, 100), call("blocking", 2, 100)]);
    expect(held).toMatchObject({
      error: {
        code: "reward_failed",
        message: expect.stringContaining("holds the whole process up") as string,
      },
    });
    expect(free).toEqual({ value: 1 });
  });

  it("hands on what was granted, and nothing of the trainer's own", async () => {
    expect(await python.callAll([call("environment")])).toEqual([{ value: { score: 0, reason: "granted" } }]);
  });

  it("takes what user code started along when it ends", async () => {
    const own = await start("rewards.py");
    const [started] = (await own.callAll([call("child")])) as [{ value: number }];
    expect(process.kill(started.value, 0)).toBe(true);
    await own.close();
    await expect.poll(() => isAlive(started.value)).toBe(false);
    expect(isAlive(own.pid)).toBe(false);
  });

  it("says where a file that does not load is wrong, and what is missing", async () => {
    writeFileSync(join(folder, "broken.py"), "import nothing_of_this_name\n");
    await expect(start("broken.py")).rejects.toMatchObject({
      code: "user_code_invalid",
      message: "broken.py: ModuleNotFoundError: No module named 'nothing_of_this_name' (at broken.py:1)",
    });
    await expect(start("broken.py", { python: "python-of-no-machine" })).rejects.toMatchObject({
      code: "python_missing",
    });
  });
});

/** A zombie is gone: it only waits for somebody to read its exit code. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
}
