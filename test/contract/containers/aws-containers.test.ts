import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { AwsContainers } from "../../../functions/aws/aws-containers.ts";
import { awsApis } from "../../../functions/aws/aws-containers/apis.ts";
import { startFakeAws, type StartContainer } from "../../fakes/aws/index.ts";
import { PARAMS, silent, WORLD } from "../../functions/aws/gym.ts";
import { environmentFor } from "../../functions/local/process-containers-fixture.ts";
import { containersContract } from "./suite.ts";

const PROGRAM = fileURLToPath(new URL("../../fixtures/local/container.ts", import.meta.url));
/** As a `stopTimeout` in the definition would say it: the call itself takes no time. */
const STOP_TIMEOUT_MS = 200;

/** What runs "on AWS" is a process of this machine. */
const startProcess: StartContainer = (_definition, run) => {
  const child = spawn(process.execPath, [PROGRAM], {
    env: { ...run.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ends = [child.stdout, child.stderr].map(async (stream) => {
    for await (const line of createInterface({ input: stream })) run.log(line);
  });
  const exited = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.once("exit", (exitCode, signal) => {
      // Its last lines before its end, as a log driver delivers them.
      void Promise.all(ends).then(() => resolve({ exitCode, signal }));
    });
  });
  return {
    pid: child.pid,
    exited,
    stop(signal) {
      child.kill(signal);
      const force = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      void exited.then(() => clearTimeout(force));
    },
  };
};

containersContract("AwsContainers", async () => {
  const listeners: ((event: unknown) => Promise<void>)[] = [];
  const aws = await startFakeAws({
    ...WORLD,
    auto: true,
    startContainer: startProcess,
    onEvent: (event) => listeners[0]?.(event),
  });
  const apis = awsApis(aws.clientConfig);
  const containers = new AwsContainers({
    params: PARAMS,
    clock: aws.clock,
    log: silent,
    apis,
    pollMs: 20,
    freshMs: 10,
  });
  listeners.push(async (event) => {
    await containers.heard(event);
  });
  return {
    containers,
    environmentFor,
    killForMemory: async () => {
      const [running] = aws.containers.all;
      if (running !== undefined) aws.control.oom(running.run.arn);
    },
    dispose: async () => {
      await containers.close({ leaveRunning: true });
      await aws.close();
    },
  };
});
