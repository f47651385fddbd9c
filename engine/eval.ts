/**
 * Entry of an eval container: plays every row of a dataset with an endpoint, or with a checkpoint of its own, and has
 * the conversations judged. Everything it needs is in the environment (`JobEnvironment`) and in the job it fetches.
 *
 * @module
 */
import { enableCompileCache } from "node:module";
import { makeWay } from "./evaluation/low-priority.ts";

// Before everything else: to load the rest takes a core from whoever trains here, and engines take two.
await makeWay();
enableCompileCache();
const [{ runContainer }, { runEvaluation }] = await Promise.all([
  import("./agent/container.ts"),
  import("./evaluation/run.ts"),
]);
const code = await runContainer(process.env, (context) =>
  runEvaluation(context, {
    // Loaded where there are weights to play with: most evals ask an endpoint.
    startEngine: async (setup) => {
      const [{ startEngine }, { spawnEngineWorker }] = await Promise.all([
        import("./onnx/engine-client.ts"),
        import("./onnx/spawn-worker.ts"),
      ]);
      return startEngine(setup, spawnEngineWorker());
    },
    loadTextModel: async (modelDir) => (await import("./onnx/text/text-model.ts")).loadTextModel(modelDir),
  }),
);
process.exit(code);
