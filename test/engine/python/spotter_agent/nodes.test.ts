import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { hasPython } from "./has-python.ts";

const PYTHON_DIR = fileURLToPath(new URL("../../../../engine/python", import.meta.url));

/** Runs a program that has `Children`, `Main` and a list `lost`; what it prints, line by line. */
async function python(program: string): Promise<string[]> {
  const head = `
import json, os, socket, struct, sys, time, threading
from spotter_agent.nodes import Children, Main, Place, proof
lost = []
def wait(reached, seconds=5):
    until = time.monotonic() + seconds
    while not reached() and time.monotonic() < until: time.sleep(0.01)
    return reached()
def main_node(expected, token="t", **more):
    return Children(expected, token, lambda error: lost.append(error.message), host="127.0.0.1", port=0, **more)
def child(main, rank, token="t", **more):
    told = []
    made = Main("127.0.0.1", rank, token, lambda error: told.append(error.message), port=main.port, every_s=0.05, **more)
    made.told = told
    return made
def joined(main, rank):
    """A connection that said who it is, and says no more."""
    made = socket.create_connection(("127.0.0.1", main.port))
    with made.makefile("rb") as lines: nonce = json.loads(lines.readline())["nonce"]
    made.sendall(json.dumps({"rank": rank, "proof": proof("t", nonce, rank)}).encode() + b"\\n")
    return made
`;
  const child = spawn("python3", ["-c", head + program], {
    env: { PATH: process.env["PATH"], PYTHONPATH: PYTHON_DIR, PYTHONDONTWRITEBYTECODE: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(child, "close");
  return text.trim().split("\n");
}

describe.runIf(hasPython)("several hosts for one job", () => {
  it("end together when one of them dies, falls silent, never comes, or loses the main one", async () => {
    const lines = await python(`
main = main_node(2)
one, two = child(main, 1), child(main, 2, files_port=7)
print(main.wait_joined(5), lost)
one.up()
print(main.wait_up(0.2), two.up(), main.wait_up(5), main.files())
one.close()
time.sleep(0.2)
print(lost)
two._connection.shutdown(2)
print(wait(lambda: lost) and lost)
main.close()

lost.clear()
main = main_node(1, silent_after_s=0.3)
silent = child(main, 1)
silent._closed.set()
print(wait(lambda: lost) and lost)
main.close()

lost.clear()
main = main_node(3, join_within_s=0.3)
early = child(main, 1)
print(wait(lambda: lost) and lost)
# Its connection goes with the main node.
main._closed.set()
early._connection.shutdown(0)
print(wait(lambda: early.told) and early.told)
`);
    expect(lines).toEqual([
      "True []",
      "False None True [(2, '127.0.0.1:7')]",
      "[]",
      "['Node 2 is gone: it closed its connection.']",
      "['Node 1 is gone: it was silent for 0 s.']",
      "['1 of 3 further nodes came within 0 s.']",
      "['The main node is gone.']",
    ]);
  });

  it("end well together, when the work is done", async () => {
    const lines = await python(`
main = main_node(3)
one, two = child(main, 1), child(main, 2)
# One that hangs: nobody waits for it for long.
deaf = joined(main, 3)
print(main.wait_joined(5))
started = time.monotonic()
main.done(0.5)
print(one.is_done.wait(1), two.is_done.wait(1), time.monotonic() - started < 2)
main.close()
time.sleep(0.3)
print(lost, one.told, two.told)
sys.stdout.flush()
os._exit(0)
`);
    expect(lines).toEqual(["True", "True True True", "[] [] []"]);
  });

  it("tell of one that dies with an answer unread as of any other that dies", async () => {
    const lines = await python(`
main = main_node(1)
dying = joined(main, 1)
print(main.wait_joined(5))
# No orderly end: the connection is reset.
dying.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
dying.close()
print(wait(lambda: lost) and lost)
main.close()
sys.stdout.flush()
os._exit(0)
`);
    expect(lines).toEqual(["True", "['Node 1 is gone: it closed its connection.']"]);
  });

  it("take in nobody who does not know the job's token, and know their place", async () => {
    const lines = await python(`
main = main_node(1)
stranger = child(main, 1, token="other")
print(main.wait_joined(0.3), wait(lambda: stranger.told) and stranger.told, lost)
import socket
for odd in (b"", b"{}\\n", b"\\xff" * 9000, b'{"rank": "x", "proof": 1}\\n'):
    with socket.create_connection(("127.0.0.1", main.port)) as s: s.sendall(odd)
child(main, 1)
print(main.wait_joined(5), lost)
main.close()
place = Place({"AWS_BATCH_JOB_NUM_NODES": "2", "AWS_BATCH_JOB_NODE_INDEX": "1",
  "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0", "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": "10.0.0.7"})
print(place.count, place.rank, place.is_main, place.main_host)
print(Place({}).count, Place({}).is_main)
sys.stdout.flush()
os._exit(0)
`);
    expect(lines).toEqual(["False ['The main node is gone.'] []", "True []", "2 1 False 10.0.0.7", "1 True"]);
  });
});
