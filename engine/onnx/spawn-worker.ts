import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";

/**
 * Starts the engine's worker, which loads ONNX Runtime at once. Hand it to `startEngine`, or terminate it.
 * This module imports nothing else, so that an entry can start the worker before it loads the rest of itself.
 */
export function spawnEngineWorker(): Worker {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const cache = getCompileCacheDir();
  // A worker does not inherit the compile cache of its process; with it, it is up 60 ms sooner.
  const env = cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: cache };
  return new Worker(new URL(`./worker.${extension}`, import.meta.url), { name: "engine", env });
}
