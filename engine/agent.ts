/**
 * The container's side of `functions/jobs`: everything a container says to the control plane and asks of
 * it. A container knows only a URL and a job token, so a child process on a laptop and a task in the cloud
 * are the same thing.
 *
 * @module
 */
import * as z from "zod/mini";
import type { Checkpoint } from "../sdk/schema/checkpoint.ts";
import { SpotterError, type Failure } from "../sdk/schema/errors.ts";
import {
  JOB_PROTOCOL,
  jobCallsReply,
  jobCheckpoint,
  jobRewardsReply,
  jobSpec,
  type JobCallResult,
  type JobEnvironment,
  type JobEnvironmentCall,
  type JobEventBody,
  type JobCheckpoint,
  type JobFile,
  type JobSpec,
  type JobToolCall,
} from "../sdk/schema/job.ts";
import type { RewardRow, Rollout, Verdict } from "../sdk/schema/rollout.ts";
import { jobTeacherReply, type JobTeacherReply, type TeacherQuestion } from "../sdk/schema/job-teacher.ts";
import { uploadCheckpoint, type CheckpointUpload } from "./agent/checkpoint.ts";
import { createEventQueue } from "./agent/event-queue.ts";
import { downloadFile } from "./agent/files.ts";
import { beat } from "./agent/heartbeat.ts";
import { realPace, type Pace } from "./agent/pace.ts";
import { createTransport } from "./agent/transport.ts";

export type JobOutcome = "succeeded" | "failed" | "cancelled";

export interface JobClientOptions {
  pace?: Pace;
  /** How long the control plane may stay away before the container gives up. Default: 10 minutes. */
  giveUpAfterMs?: number;
  /** Time limit of one call to judge a batch; the control plane bounds each reward by itself. Default: 5 minutes. */
  judgeTimeoutMs?: number;
  /** Time limit of one question to an endpoint, which may have to wake up first. Default: 5 minutes. */
  chatTimeoutMs?: number;
  /** A newer attempt owns the job: exit at once and report nothing. */
  onStale?: (error: SpotterError) => void;
  /** The control plane stayed away, or refuses what it is told; nothing can be reported any more. */
  onLost?: (error: SpotterError) => void;
}

export interface JobProgress {
  phase?: string;
  step?: number;
}

export interface JobClient {
  /** Fetches the job and checks the protocol; the first call to make. Throws `version_mismatch`. */
  getJob(): Promise<JobSpec>;
  /** Beats from now on, whatever else happens. */
  startHeartbeats(): void;
  /** What the next heartbeats say. */
  setProgress(progress: JobProgress): void;
  /** Aborted when the control plane or a signal asks to stop; finish safely and call `exit`. */
  readonly cancelled: AbortSignal;
  /** Asks this container to stop, as a heartbeat's answer would. */
  cancel(): void;
  /** Aborted when nothing can be said any more: a stale attempt, or a control plane that stayed away. */
  readonly ended: AbortSignal;
  /** Queues an event; order is kept, delivery is exactly once. */
  report(body: JobEventBody): void;
  /** Resolves when everything reported is stored. */
  flush(): Promise<void>;
  /** One verdict per row, in order. */
  judge(rows: RewardRow[]): Promise<Verdict[]>;
  /** Calls tools of the run; one result a call, in order. */
  callTools(calls: JobToolCall[]): Promise<JobCallResult[]>;
  /** Begins episodes in the run's environments, and goes on with them; one result a call, in order. */
  callEnvironments(calls: JobEnvironmentCall[]): Promise<JobCallResult[]>;
  /** Asks the run's teacher; the answer may be that it is not up yet. */
  askTeacher(question: TeacherQuestion, signal: AbortSignal): Promise<JobTeacherReply>;
  /** Asks an endpoint (OpenAI chat completions, not streamed) with the job token as key. */
  chat(url: string, body: unknown, signal: AbortSignal): Promise<unknown>;
  /** All rollouts of a step; repeating a step replaces it. */
  putRollouts(step: number, rollouts: Rollout[]): Promise<void>;
  /** Announces, uploads and completes a checkpoint; it exists when this resolves. */
  uploadCheckpoint(upload: CheckpointUpload): Promise<Checkpoint>;
  /**
   * The files of a LoRA checkpoint `run@step` of the model that this job serves. Throws `checkpoint_not_found`, or
   * `model_not_found` for a checkpoint of something else.
   */
  getAdapter(id: string): Promise<JobCheckpoint>;
  /** Fetches a file of the job and checks its hash; the target appears only when whole. */
  download(file: JobFile, to: string): Promise<void>;
  /** The last word: delivers everything queued, then how the work ended, and stops the heartbeats. */
  exit(outcome: JobOutcome, failure?: Failure): Promise<void>;
  /** Stops the heartbeats and everything under way without another word. */
  close(): Promise<void>;
}

/**
 * A client for one job.
 *
 * @example
 * const client = createJobClient(process.env as unknown as JobEnvironment);
 * const job = await client.getJob();
 * client.startHeartbeats();
 * client.report({ type: "log", level: "info", message: `working on ${job.id}` });
 * await client.exit("succeeded");
 */
export function createJobClient(env: JobEnvironment, options: JobClientOptions = {}): JobClient {
  const {
    pace = realPace,
    giveUpAfterMs = 600_000,
    judgeTimeoutMs = 300_000,
    chatTimeoutMs = 300_000,
  } = options;
  const ending = new AbortController();
  const cancelling = new AbortController();
  const heartbeats = new AbortController();
  const path = `/jobs/${encodeURIComponent(env.SPOTTER_JOB_ID)}`;
  let job: JobSpec | undefined;
  let progress: JobProgress = {};
  let beating: Promise<void> = Promise.resolve();

  const transport = createTransport({
    url: env.SPOTTER_URL,
    token: env.SPOTTER_JOB_TOKEN,
    pace,
    giveUpAfterMs,
    signal: ending.signal,
    onStale: (error) => end(error, options.onStale),
    onLost: (error) => end(error, options.onLost),
  });
  const queue = createEventQueue({
    send: (events) => transport.json(`${path}/events`, { attempt: attempt(), events }),
    pace,
    signal: ending.signal,
    onError: (error) => end(SpotterError.from(error), options.onLost),
  });

  function end(error: SpotterError, tell: ((error: SpotterError) => void) | undefined): void {
    if (ending.signal.aborted) return;
    ending.abort(error);
    tell?.(error);
  }

  function attempt(): number {
    if (job === undefined)
      throw new SpotterError("internal", "The job was not fetched yet: call getJob() first.");
    return job.attempt;
  }

  async function getJob(): Promise<JobSpec> {
    const answer = await transport.json(path);
    const protocol = (answer as { protocol?: unknown } | null)?.protocol;
    if (protocol !== JOB_PROTOCOL) throw protocolError(protocol);
    job = z.parse(jobSpec, answer);
    return job;
  }

  function startHeartbeats(): void {
    if (job === undefined)
      throw new SpotterError("internal", "The job was not fetched yet: call getJob() first.");
    beating = beat({
      everyMs: job.heartbeatEveryMs,
      send: () =>
        transport.json(
          `${path}/heartbeat`,
          { attempt: attempt(), ...progress },
          { timeoutMs: 15_000, signal: heartbeats.signal },
        ),
      onCancel: () => cancelling.abort(),
      onError: (error) => end(SpotterError.from(error), options.onLost),
      pace,
      signal: AbortSignal.any([ending.signal, heartbeats.signal]),
    });
  }

  async function judge(rows: RewardRow[]): Promise<Verdict[]> {
    if (rows.length === 0) return [];
    const answer = await transport.json(
      `${path}/rewards`,
      { attempt: attempt(), rows },
      { timeoutMs: judgeTimeoutMs },
    );
    const { verdicts } = z.parse(jobRewardsReply, answer);
    if (verdicts.length === rows.length) return verdicts;
    throw new SpotterError("reward_invalid", `Judged ${rows.length} rows, got ${verdicts.length} verdicts.`);
  }

  async function callAll(at: string, calls: unknown[]): Promise<JobCallResult[]> {
    if (calls.length === 0) return [];
    const body = { attempt: attempt(), calls };
    const answer = await transport.json(`${path}/${at}`, body, { timeoutMs: judgeTimeoutMs });
    const { results } = z.parse(jobCallsReply, answer);
    if (results.length === calls.length) return results;
    throw new SpotterError("internal", `Made ${calls.length} calls, got ${results.length} results.`);
  }

  async function stopBeating(): Promise<void> {
    heartbeats.abort();
    await beating;
  }

  return {
    getJob,
    startHeartbeats,
    setProgress: (next) => {
      progress = { ...progress, ...next };
    },
    cancelled: cancelling.signal,
    cancel: () => cancelling.abort(),
    ended: ending.signal,
    report: (body) => queue.push(body),
    flush: () => queue.flush(),
    judge,
    callTools: (calls) => callAll("tools", calls),
    callEnvironments: (calls) => callAll("environments", calls),
    askTeacher: async (question, signal) => {
      const body = { attempt: attempt(), question };
      return z.parse(
        jobTeacherReply,
        await transport.json(`${path}/teacher`, body, { timeoutMs: judgeTimeoutMs, signal }),
      );
    },
    chat: (url, body, signal) =>
      transport.request(
        url,
        {
          method: "POST",
          body: () => JSON.stringify(body),
          headers: {
            "content-type": "application/json",
            // The endpoint may be reached through another host than the control plane.
            authorization: `Bearer ${env.SPOTTER_JOB_TOKEN}`,
          },
          timeoutMs: chatTimeoutMs,
          signal,
        },
        (response) => response.json(),
      ),
    putRollouts: async (step, rollouts) => {
      await transport.json(`${path}/rollouts`, { attempt: attempt(), step, rollouts }, { timeoutMs: 60_000 });
    },
    uploadCheckpoint: (upload) => uploadCheckpoint(transport, path, attempt(), upload),
    getAdapter: async (id) =>
      z.parse(jobCheckpoint, await transport.json(`${path}/adapters/${encodeURIComponent(id)}`)),
    download: (file, to) => downloadFile(transport, file, to),
    exit: async (outcome, failure) => {
      queue.push({ type: "exit", outcome, ...(failure === undefined ? {} : { failure }) });
      try {
        await queue.flush();
      } finally {
        await stopBeating();
      }
    },
    close: async () => {
      if (!ending.signal.aborted)
        ending.abort(new SpotterError("user_cancelled", "The job client was closed."));
      await stopBeating();
    },
  };
}

function protocolError(protocol: unknown): SpotterError {
  return new SpotterError(
    "version_mismatch",
    `The control plane speaks job protocol ${String(protocol)}, this container speaks ${JOB_PROTOCOL}.`,
    { hint: "Run both from the same version of Spotter." },
  );
}
