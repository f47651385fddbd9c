import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Dataset, Endpoint, models, recipes, TrainConfig } from "../../sdk/index.ts";
import { SLIME_OPTIONS } from "../../sdk/schema/engines/slime-plan.ts";
import { fakeDocker, type FakeDocker } from "../fakes/docker/index.ts";
import { runCli } from "../sdk/cli/run-cli.ts";
import { ownHome } from "./home.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 on this machine\n");

const UP = "up --gpu --json --vllm-image gym/vllm:1 --slime-image gym/slime:1";

/** Images whose engines are the stand-ins, in a Docker that is one. */
function dockerWithEngines(dir: string): FakeDocker {
  const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/engines/${name}`, import.meta.url));
  const docker = fakeDocker(dir);
  mkdirSync(join(dir, "vllm-bin"));
  writeFileSync(join(dir, "vllm-bin", "vllm"), `#!/bin/sh\nexec python3 ${fixture("vllm.py")} "$@"\n`);
  chmodSync(join(dir, "vllm-bin", "vllm"), 0o755);
  copyFileSync(fixture("slime.py"), join(dir, "train.py"));
  cpSync(fixture("stubs/slime"), join(dir, "slime"), { recursive: true });
  writeFileSync(join(dir, "options.json"), JSON.stringify(Object.keys(SLIME_OPTIONS.options)));
  docker.addImage("gym/vllm:1", { path: join(dir, "vllm-bin") });
  const env = { SPOTTER_ENGINE_DIR: dir, STAND_IN_OPTIONS: join(dir, "options.json") };
  docker.addImage("gym/slime:1", { env });
  return docker;
}

describe.runIf(hasPython)("a GPU box, on stand-ins for Docker and the engines", () => {
  const dir = mkdtempSync(join(tmpdir(), "spotter-gpu-box-"));
  const docker = hasPython ? dockerWithEngines(dir) : undefined;
  const runs = () => docker?.calls().filter(([verb]) => verb === "run") ?? [];
  const before = process.env["PATH"];
  beforeAll(() => {
    process.env["PATH"] = `${docker?.bin}:${before}`;
  });
  // The last to be said is the first to be done: the daemon needs its Docker to end.
  afterAll(() => {
    process.env["PATH"] = before;
    rmSync(dir, { recursive: true, force: true });
  });
  const { home } = ownHome();

  async function cli(line: string) {
    const result = await runCli(line);
    vi.unstubAllEnvs();
    return { ...result, json: JSON.parse(result.out) as Record<string, unknown> };
  }

  it("is not begun where Docker cannot do it", async () => {
    docker?.break("down");
    const { code, json } = await cli(UP);
    docker?.mend("down");
    expect({ code, json }).toMatchObject({ code: 2, json: { error: { code: "docker_missing" } } });
    expect((await cli("down --json")).json).toMatchObject({ stopped: false });
  });

  it("serves and trains in containers, which outlive the daemon and end with `down`", async () => {
    const up = await cli(UP);
    expect(up.json).toMatchObject({ images: { vllm: "gym/vllm:1", slime: "gym/slime:1" } });
    const weights = new URL("../../engine/models/nano", import.meta.url);
    await models.push(weights, { name: "Qwen/Qwen3-0.6B" });
    const endpoint = await Endpoint.launch("Qwen/Qwen3-0.6B", { name: "fast", engine: "vllm" });
    await endpoint.waitUntilReady({ timeoutMs: 30_000 });
    const hello = [{ role: "user", content: "Hello" }] as const;
    expect(await endpoint.chat([...hello])).toMatchObject({ content: "from vLLM" });

    const config = {
      model: "Qwen/Qwen3-0.6B",
      dataset: Dataset.fromArray([{ q: "rain" }], { inputColumn: "q" }),
      rewards: join(dir, "rewards.ts"),
      imageOverlay: [`echo changed >> ${join(dir, "changed")}`],
      recipe: recipes.slime({ numRollout: 2, saveInterval: 2, evalInterval: null }),
    };
    writeFileSync(
      config.rewards,
      'import { reward } from "spotter";\nexport const one = reward(async () => 1);\n',
    );
    const first = await (await new TrainConfig(config).launch()).result();
    expect(first.checkpoints().map(({ step }) => step)).toEqual([2]);

    process.kill(Number(up.json["pid"]), "SIGKILL");
    await vi.waitFor(() => expect(() => process.kill(Number(up.json["pid"]), 0)).toThrow("ESRCH"));
    const started = runs().length;
    // A script's own daemon is as the one before it.
    expect(await endpoint.chat([...hello])).toMatchObject({ content: "from vLLM" });
    expect(runs()).toHaveLength(started);
    expect((await cli("up --gpu --json --vllm-image other:1")).json).toMatchObject({
      error: { code: "conflict" },
    });
    const again = await (await new TrainConfig(config).launch()).result();
    expect(again.run.state).toBe("succeeded");
    expect(readFileSync(join(dir, "changed"), "utf8")).toBe("changed\n");

    await vi.waitFor(() => expect(docker?.containers()).toHaveLength(1));
    await cli("down --json");
    expect(docker?.containers()).toEqual([]);
    expect(JSON.stringify(docker?.calls())).not.toContain("SPOTTER_JOB_TOKEN");
    expect(JSON.parse(readFileSync(join(home, "gpu.json"), "utf8"))).toMatchObject({ v: 1 });
  }, 60_000);
});
