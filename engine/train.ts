/**
 * Entry of a training container: one attempt at one run. Everything it needs is in the environment
 * (`JobEnvironment`) and in the job it fetches.
 *
 * @module
 */
import { enableCompileCache } from "node:module";
import { spawnEngineWorker } from "./onnx/spawn-worker.ts";

enableCompileCache();
// Before everything else: the worker loads ONNX Runtime while this thread loads the rest and fetches its job.
const worker = spawnEngineWorker();
const [{ runContainer }, { runTraining }, { startEngine }, { loadTextModel }] = await Promise.all([
  import("./agent/container.ts"),
  import("./training/run.ts"),
  import("./onnx/engine-client.ts"),
  import("./onnx/text/text-model.ts"),
]);
const code = await runContainer(process.env, (context) =>
  runTraining(context, {
    startEngine: (setup) => startEngine(setup, worker),
    loadTextModel,
    now: () => performance.now(),
  }),
);
process.exit(code);
