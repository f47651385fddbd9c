/**
 * Entry of an eval container: asks an endpoint every row of a dataset and has the answers judged.
 * Everything it needs is in the environment (`JobEnvironment`) and in the job it fetches.
 *
 * @module
 */
import { enableCompileCache } from "node:module";

enableCompileCache();
const [{ runContainer }, { runEvaluation }] = await Promise.all([
  import("./agent/container.ts"),
  import("./evaluation/run.ts"),
]);
process.exit(await runContainer(process.env, runEvaluation));
