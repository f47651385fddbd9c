import { Worker } from "node:worker_threads";

/**
 * Starts the engine's worker, which loads ONNX Runtime at once. Hand it to `startEngine`, or terminate it.
 * This module imports nothing else, so that an entry can start the worker before it loads the rest of itself.
 */
export function spawnEngineWorker(): Worker {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new Worker(new URL(`./worker.${extension}`, import.meta.url), { name: "engine" });
}
