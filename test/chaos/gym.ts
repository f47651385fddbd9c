import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "../../sdk/client.ts";
import { Endpoint, Key } from "../../sdk/index.ts";
import { writeTinyModel } from "../engine/onnx/fixtures/tiny-model.ts";
import { startDaemon, type ChaosDaemon } from "./daemon.ts";
import { killHard, listProcesses, livingContainers } from "./processes.ts";

/** A state folder with a daemon, a tiny model and an endpoint that serves it: what trials happen to. */
export interface Gym {
  readonly home: string;
  readonly model: string;
  readonly key: string;
  readonly url: string;
  readonly client: Client;
  readonly endpoint: string;
  /** Process groups of every container that was ever seen. */
  readonly groups: Set<number>;
  daemon(): ChaosDaemon;
  /** Kills the daemon if it still lives, and starts the next one; its store may have a fault. */
  revive(fault?: string): Promise<void>;
  /** Ends the daemon, then removes the folder; resolves to what still ran although it should not have. */
  close(): Promise<string[]>;
}

export async function openGym(): Promise<Gym> {
  const home = mkdtempSync(join(tmpdir(), "spotter-chaos-"));
  const model = await writeTinyModel(join(home, "model"));
  const groups = new Set<number>();
  let daemon = await startDaemon(home);
  const { url, adminKey } = daemon.file;
  const admin = new Client({ url, key: adminKey });
  // The key in daemon.json lives as long as its daemon; this one is stored.
  const { key } = await Key.create({ name: "chaos", scope: "admin", client: admin });
  const client = new Client({ url, key });
  const endpoint = await Endpoint.launch(model, { client });
  await endpoint.waitUntilReady({ timeoutMs: 60_000 });
  return {
    home,
    model,
    key,
    url,
    client,
    endpoint: endpoint.name,
    groups,
    daemon: () => daemon,
    async revive(fault) {
      await daemon.kill();
      daemon = await startDaemon(home, fault);
    },
    async close() {
      for (const { pid } of livingContainers(home)) groups.add(pid);
      await daemon.end();
      const left = listProcesses().filter(({ group, args }) => groups.has(group) || args.includes(home));
      for (const { pid } of left) killHard(pid);
      rmSync(home, { recursive: true, force: true });
      return left.map(({ pid, args }) => `process ${pid} outlived its daemon: ${args}`);
    },
  };
}
