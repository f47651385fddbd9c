import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Endpoint, models } from "../../sdk/index.ts";
import { runCli } from "../sdk/cli/run-cli.ts";
import { ownHome } from "./home.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 on this machine\n");

describe.skipIf(!hasPython)("an endpoint on a stand-in for vLLM", () => {
  let dir = "";
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "spotter-vllm-dir-"));
    const program = fileURLToPath(new URL("../fixtures/engines/vllm.py", import.meta.url));
    await writeFile(join(dir, "vllm"), `#!/bin/sh\nexec python3 ${program} "$@"\n`);
    await chmod(join(dir, "vllm"), 0o755);
    process.env["PATH"] = `${dir}:${process.env["PATH"]}`;
  });
  ownHome();
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it("answers through the gateway, and is told apart by its settings", async () => {
    await models.push(new URL("../../engine/models/nano", import.meta.url), { name: "Qwen/Qwen3-0.6B" });
    const params = { name: "fast", engine: "vllm", vllm: { maxModelLen: 4096 } } as const;
    const endpoint = await Endpoint.launch("Qwen/Qwen3-0.6B", params);
    await endpoint.waitUntilReady({ timeoutMs: 30_000 });
    const reply = await endpoint.chat([{ role: "user", content: "Hello" }]);
    expect(reply).toMatchObject({ content: "from vLLM", usage: { completion_tokens: 2 } });
    // Word by word, as the SDK and the CLI ask for it.
    const words = [];
    for await (const { content } of endpoint.stream([{ role: "user", content: "Hello" }]))
      words.push(content);
    expect(words.filter(Boolean)).toEqual(["from", " vLLM"]);
    expect(await runCli(["endpoint", "chat", "fast", "Hello"])).toMatchObject({
      code: 0,
      out: "from vLLM\n",
      err: "",
    });
    await expect(
      Endpoint.launch("Qwen/Qwen3-0.6B", { ...params, vllm: { maxModelLen: 8192 } }),
    ).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("engine settings") as string,
    });
    await expect(
      Endpoint.launch("Qwen/Qwen3-0.6B", { name: "odd", engine: "vllm", vllm: { maxModelLem: 1 } as object }),
    ).rejects.toMatchObject({ code: "unknown_key" });
    await endpoint.stop();
  }, 30_000);
});
