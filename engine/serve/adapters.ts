import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JobClient } from "../agent.ts";
import type { ContainerContext } from "../agent/container.ts";
import { startEngine } from "../onnx/engine-client.ts";
import type { EngineSetup } from "../onnx/engine-api.ts";
import { loadLlamaConfig } from "../onnx/models/llama-config.ts";
import { llamaParameters } from "../onnx/models/llama-parameters.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { ModelRef } from "../../sdk/schema/model.ts";
import { AdapterEngines } from "./adapter-engines.ts";

/** Each has all weights of the base once more. */
const MOST = 4;
/** Who asks for an adapter asks less often than all who ask for its base. */
const PREFIX_CACHE_MIB = 64;
/** While weights are loaded there are two copies. */
const COPIES = 2;

type Context = Pick<ContainerContext, "log" | "workDir"> & {
  client: Pick<JobClient, "getAdapter" | "download">;
};

/** Adapters of a job's model, whose files the control plane hands out by the checkpoint's id. */
export async function replicaAdapters(
  { client, log, workDir }: Context,
  served: ModelRef,
  setup: EngineSetup,
): Promise<AdapterEngines> {
  const needBytes = (await weightBytes(setup.modelDir)) * COPIES + PREFIX_CACHE_MIB * 2 ** 20;
  let fetches = 0;
  return new AdapterEngines({
    most: MOST,
    hasMemory: () => process.availableMemory() >= needBytes,
    async fetch(id) {
      const { kind, model, files } = await client.getAdapter(id);
      // The endpoint may mean other weights by now.
      if (kind !== "lora" || model.name !== served.name || model.revision !== served.revision)
        throw foreign(id, served);
      const folder = join(workDir, "adapters", String(++fetches));
      const wanted = files.filter(({ path }) => path.startsWith("model/"));
      await Promise.all(wanted.map((file) => client.download(file, join(folder, file.path))));
      log.info(`fetched ${id}`);
      return join(folder, "model");
    },
    async start(adapterDir) {
      try {
        return await startEngine({ ...setup, adapterDir, prefixCacheMiB: PREFIX_CACHE_MIB });
      } finally {
        // Its engine holds it in memory.
        await rm(dirname(adapterDir), { recursive: true, force: true });
      }
    },
  });
}

function foreign(id: string, { name }: ModelRef): SpotterError {
  return new SpotterError("model_not_found", `${id} is no adapter of ${name} as it is served here.`, {
    where: "model",
  });
}

/** In memory, where all weights are float32. */
async function weightBytes(modelDir: string): Promise<number> {
  const specs = llamaParameters(await loadLlamaConfig(modelDir));
  return specs.reduce((sum, { shape }) => sum + 4 * shape.reduce((a, b) => a * b, 1), 0);
}
