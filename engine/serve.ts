/**
 * Entry of a serving container: one replica of an endpoint. Everything it needs is in the environment
 * (`JobEnvironment`) and in the job it fetches.
 *
 * @module
 */
import { enableCompileCache } from "node:module";
import { spawnEngineWorker } from "./onnx/spawn-worker.ts";

enableCompileCache();
// Before everything else: the worker loads ONNX Runtime while this thread loads the rest and asks for its job.
const worker = spawnEngineWorker();
const [{ runContainer }, { serveReplica }] = await Promise.all([
  import("./agent/container.ts"),
  import("./serve/replica.ts"),
]);
// In a network of containers others reach this one at an address of its own.
const host = process.env["SPOTTER_REPLICA_HOST"];
const code = await runContainer(process.env, (context) => serveReplica(context, worker, host));
process.exit(code);
