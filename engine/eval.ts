/**
 * Entry of an eval container: asks an endpoint every row of a dataset and has the answers judged.
 * Everything it needs is in the environment (`JobEnvironment`) and in the job it fetches.
 *
 * @module
 */
import { runContainer } from "./agent/container.ts";
import { runEvaluation } from "./evaluation/run.ts";

process.exit(await runContainer(process.env, runEvaluation));
