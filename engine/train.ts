/**
 * Entry of a training container: one attempt at one run. Everything it needs is in the environment
 * (`JobEnvironment`) and in the job it fetches.
 *
 * @module
 */
import { runContainer } from "./agent/container.ts";
import { startEngine } from "./onnx/engine-client.ts";
import { loadTextModel } from "./onnx/text/text-model.ts";
import { runTraining } from "./training/run.ts";

const code = await runContainer(process.env, (context) =>
  runTraining(context, { startEngine, loadTextModel, now: () => performance.now() }),
);
process.exit(code);
