import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { freePort } from "../../../sdk/fake-server.ts";
import { slimeJob, startAgent, type AgentRun, type Behaviour } from "./agent.ts";
import { hasPython } from "./has-python.ts";
import { PYTHON_DIR, runPython } from "./run-python.ts";

const RAY = fileURLToPath(new URL("../../../fixtures/engines/ray.py", import.meta.url));

interface Pair {
  main: AgentRun;
  child: { process: ChildProcess; said: () => string; ended: Promise<number | null>; workDir: string };
  /** What stands for the network between the nodes. */
  cluster: string;
}

/** Two nodes of one job on this machine, with a stand-in for Ray that has no head where `ray` says so. */
async function pair(behaviour: Behaviour = {}, ray = `exec python3 ${RAY} "$@"`): Promise<Pair> {
  const folder = (name: string) => {
    const made = mkdtempSync(join(tmpdir(), `spotter-${name}-`));
    onTestFinished(() => rmSync(made, { recursive: true, force: true, maxRetries: 3 }));
    return made;
  };
  const [bin, cluster, workDir] = [folder("bin"), folder("cluster"), folder("child")];
  writeFileSync(join(bin, "ray"), `#!/bin/sh\n${ray}\n`, { mode: 0o755 });
  const options = { nodes_port: await freePort(), ray_port: await freePort(), nodes_beat_s: 0.05 };
  const env = {
    PATH: `${bin}:${process.env["PATH"]}`,
    STAND_IN_CLUSTER: cluster,
    AWS_BATCH_JOB_NUM_NODES: "2",
    AWS_BATCH_JOB_MAIN_NODE_INDEX: "0",
  };
  const native = { overlay: [`echo "$AWS_BATCH_JOB_NODE_INDEX" >> ${cluster}/changed`] };
  const main = await startAgent(
    onTestFinished,
    (plane) => {
      const job = slimeJob(plane);
      const plan = job["native"] as { argv: string[] };
      return { ...job, native: { ...plan, argv: [...plan.argv, "--actor-num-nodes", "2"] } };
    },
    { behaviour, env: { ...env, AWS_BATCH_JOB_NODE_INDEX: "0" }, options, native },
  );
  const settings = { poll_s: 0.05, grace_s: 3, speed: 50, overlay_marks_dir: join(workDir, "marks") };
  const child = spawn("python3", ["-m", "spotter_agent"], {
    env: {
      ...env,
      PYTHONPATH: PYTHON_DIR,
      PYTHONDONTWRITEBYTECODE: "1",
      ...main.plane.env,
      SPOTTER_WORK_DIR: workDir,
      SPOTTER_AGENT_OPTIONS: JSON.stringify({ ...settings, ...options }),
      AWS_BATCH_JOB_NODE_INDEX: "1",
      AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS: "127.0.0.1",
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(child, "exit").then(([code]) => code as number | null);
  return { main, child: { process: child, said: () => said, ended, workDir }, cluster };
}

describe.runIf(hasPython)("Ray over two nodes", { timeout: 20_000 }, () => {
  it("trains, and brings what either has saved home as one checkpoint", async () => {
    const { main, child, cluster } = await pair();
    expect(await main.ended, main.stderr() + child.said()).toBe(0);
    expect([...main.plane.checkpoints.keys()]).toEqual([2, 4]);
    const paths = [...(main.plane.checkpoints.get(4)?.files.keys() ?? [])];
    expect(paths).toEqual(
      expect.arrayContaining([
        "trainer/iter_0000003/__0_0.distcp",
        "trainer/iter_0000003/__1_0.distcp",
        "model/model-00001-of-00002.safetensors",
        "model/model-00002-of-00002.safetensors",
        "model/model.safetensors.index.json",
      ]),
    );
    // Each had the weights, the rows and the changed image before its part of Ray began.
    expect(readFileSync(join(cluster, "changed"), "utf8").split("\n").sort()).toEqual(["", "0", "1"]);
    expect(readdirSync(join(child.workDir, "model")).sort()).toEqual(["config.json", "model.safetensors"]);
    // The main one spoke for both, and the other ends well with it.
    expect(main.told("exit")).toHaveLength(1);
    expect(await child.ended, child.said()).toBe(0);
    expect(child.said()).not.toContain('"level": "error"');
  });

  it("ends when a node dies, which the engine would wait for", async () => {
    const { main, child } = await pair({ secondsAStep: 30 });
    await vi.waitFor(() => expect(main.told("run").length).toBeGreaterThan(2), 5_000);
    child.process.kill("SIGKILL");
    expect(await main.ended).toBe(1);
    const failure = { code: "container_failed", message: "Node 1 is gone: it closed its connection." };
    expect(main.exit()).toMatchObject({ outcome: "failed", failure });
  });

  it("ends as failed on the other node, when the main one is gone without a word", async () => {
    const { main, child } = await pair({ secondsAStep: 30 });
    await vi.waitFor(() => expect(main.told("run").length).toBeGreaterThan(2), 5_000);
    main.agent.kill("SIGKILL");
    expect(await child.ended).toBe(1);
    expect(child.said()).toContain("The main node is gone.");
  });

  it("ends when its head does", async () => {
    const { main, child } = await pair(
      {},
      'case "$*" in *--head*) echo "no room"; exit 3 ;; esac; exec sleep 60',
    );
    expect(await main.ended).toBe(1);
    const { failure } = main.exit() as { failure: { message: string } };
    expect(failure.message).toMatch(/Ray's head ended.*3: no room/);
    // It may look for a main node that was gone before it came; Batch asks it to stop.
    child.process.kill("SIGTERM");
    await child.ended;
  });

  it("lives on for a moment on a node that is asked to stop: the main one saves with it", async () => {
    const { main, child } = await pair({ secondsAStep: 0.1 });
    await vi.waitFor(() => expect(main.told("run").length).toBeGreaterThan(2), 5_000);
    child.process.kill("SIGTERM");
    main.agent.kill("SIGTERM");
    expect(await main.ended, main.stderr()).toBe(0);
    expect(main.exit()).toMatchObject({ outcome: "cancelled" });
    const [last] = [...main.plane.checkpoints.values()].slice(-1);
    expect([...(last?.files.keys() ?? [])].some((path) => path.endsWith("__1_0.distcp"))).toBe(true);
  });
});

describe.runIf(hasPython)("files of a node", () => {
  it("are those of finished iterations, and given to who knows the job's token alone", async () => {
    const lines = await runPython(`
import tempfile, urllib.request, urllib.error
from pathlib import Path
from spotter_agent.errors import JobError
from spotter_agent.node_files import FileServer, NodeFiles, iteration_of
root = Path(tempfile.mkdtemp())
save = root / "save"
(save / "iter_0000004").mkdir(parents=True)
(save / "iter_0000004" / "__1_0.distcp").write_text("part")
(save / "hf" / "4").mkdir(parents=True)
(save / "hf" / "4" / "a b.json").write_text("{}")
(save / "hf" / "4" / "model-00002.safetensors").write_text("no name yet")
(save / "notes.txt").write_text("of no iteration")
(root / "secret").write_text("no")
server = FileServer(save, "key", host="127.0.0.1")
address = f"127.0.0.1:{server.port}"
node = NodeFiles(address, "key")
print(node.list())
(save / "latest_checkpointed_iteration.txt").write_text("4")
print(node.list().tracked)
node.fetch("hf/4/a b.json", root / "got" / "it")
print((root / "got" / "it").read_text())
def refused(call):
    try: return call()
    except JobError as error: return error.message.split(": ")[-1]
print(refused(lambda: node.fetch("../secret", root / "x")), refused(lambda: node.fetch("hf/%2e%2e/../../secret", root / "x")))
print(refused(NodeFiles(address, "other").list), refused(NodeFiles(address, "k\\u00e9y").list))
print([iteration_of(path) for path in ("iter_0000012/x", "hf/3/y", "rollout/global_dataset_state_dict_7.pt", "notes")])
server.close()
print(refused(node.list)[:16])
`);
    expect(lines).toEqual([
      "Listing(files={'hf/4/a b.json': 2, 'iter_0000004/__1_0.distcp': 4}, tracked=-1)",
      "4",
      "{}",
      "Not Found Not Found",
      "Unauthorized Unauthorized",
      "[12, 3, 7, -1]",
      "<urlopen error [",
    ]);
  });
});
