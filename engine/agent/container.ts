import { SpotterError, type Failure } from "../../sdk/schema/errors.ts";
import type { JobEnvironment, JobSpec } from "../../sdk/schema/job.ts";
import { createJobClient, type JobClient, type JobClientOptions } from "../agent.ts";
import { createLog, type ContainerLog } from "./log.ts";
import { scratchLoss } from "./scratch-loss.ts";

export interface ContainerContext {
  client: JobClient;
  job: JobSpec;
  log: ContainerLog;
  /** Private scratch folder. */
  workDir: string;
}

/** Does a job's work. Throwing fails the job with the error's code. */
export type ContainerWork = (context: ContainerContext) => Promise<"succeeded" | "cancelled">;

export interface ContainerOptions {
  client?: Omit<JobClientOptions, "onStale" | "onLost">;
  /** Where signals and uncaught errors come from. Default: this process. */
  host?: NodeJS.EventEmitter;
  write?: (line: string) => void;
}

/** Exit codes of a container; the control plane reads the `exit` event, people read these. */
export const EXIT = { done: 0, failed: 1, stale: 3, lost: 4 } as const;

/**
 * The life of a container: fetch the job, beat, work, say how it ended. SIGTERM and SIGINT cancel; an
 * uncaught error fails the job. Resolves to the exit code once nothing is left to say.
 *
 * @example
 * process.exit(await runContainer(process.env, async ({ job }) => work(job)));
 */
export async function runContainer(
  environment: NodeJS.ProcessEnv,
  work: ContainerWork,
  options: ContainerOptions = {},
): Promise<number> {
  const { host = process, write = (line) => void process.stderr.write(line) } = options;
  const env = readEnvironment(environment);
  const client = createJobClient(env, options.client);
  let job: JobSpec | undefined;
  const log = createLog((level, message, line) => {
    write(line);
    if (job !== undefined) client.report({ type: "log", level, message });
  });
  const cancel = (): void => client.cancel();
  let fail: (error: unknown) => void = () => undefined;
  const uncaught = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  uncaught.catch(() => undefined);
  const signals = ["SIGTERM", "SIGINT"];
  const faults = ["uncaughtException", "unhandledRejection"];
  for (const signal of signals) host.on(signal, cancel);
  for (const fault of faults) host.on(fault, fail);
  try {
    job = await client.getJob();
    client.startHeartbeats();
    const working = work({ client, job, log, workDir: env.SPOTTER_WORK_DIR });
    const outcome = await Promise.race([working, uncaught, whenEnded(client.ended)]);
    await client.exit(outcome);
    return EXIT.done;
  } catch (error) {
    return await failed(client, log, scratchLoss(error, env.SPOTTER_WORK_DIR), job !== undefined);
  } finally {
    for (const signal of signals) host.off(signal, cancel);
    for (const fault of faults) host.off(fault, fail);
    await client.close();
  }
}

async function failed(
  client: JobClient,
  log: ContainerLog,
  error: unknown,
  knowsJob: boolean,
): Promise<number> {
  const coded = SpotterError.from(error);
  log.error(`${coded.code}: ${coded.message}`);
  if (coded.code === "internal" && error instanceof Error && error.stack !== undefined)
    log.error(error.stack);
  if (client.ended.aborted) return coded.code === "attempt_stale" ? EXIT.stale : EXIT.lost;
  // Without its job a container does not know its attempt and can report nothing: the log has to do.
  if (!knowsJob) return EXIT.failed;
  try {
    await client.exit("failed", failureOf(coded, log));
    return EXIT.failed;
  } catch (report) {
    log.error(`The failure could not be reported: ${SpotterError.from(report).message}`);
    return SpotterError.is(report) && report.code === "attempt_stale" ? EXIT.stale : EXIT.lost;
  }
}

function failureOf(error: SpotterError, log: ContainerLog): Failure {
  return {
    code: error.code,
    message: error.message,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    logTail: log.tail(),
  };
}

function whenEnded(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

function readEnvironment(environment: NodeJS.ProcessEnv): JobEnvironment {
  const read = (name: keyof JobEnvironment): string => {
    const value = environment[name];
    if (value !== undefined && value !== "") return value;
    throw new SpotterError("invalid_input", `The environment variable ${name} is not set.`, {
      where: name,
      hint: "Containers are started by the control plane.",
    });
  };
  return {
    SPOTTER_URL: read("SPOTTER_URL"),
    SPOTTER_JOB_ID: read("SPOTTER_JOB_ID"),
    SPOTTER_JOB_TOKEN: read("SPOTTER_JOB_TOKEN"),
    SPOTTER_WORK_DIR: read("SPOTTER_WORK_DIR"),
  };
}
