import type { Failure } from "../../sdk/schema/errors.ts";
import type { Hardware } from "../../sdk/schema/hardware.ts";
import type { JobEnvironment } from "../../sdk/schema/job.ts";

/** What a container does; picks the program and the budget it counts against. */
export type ContainerKind = "serve" | "train" | "eval" | "convert";

/** Engines that are not this package's own. */
export type ForeignEngine = "slime" | "vllm";

export interface ContainerSpec {
  /** Deterministic and unique: launching the same id twice starts one container. */
  jobId: string;
  kind: ContainerKind;
  /** The program of another maker that does the work, under the agent in Python. Absent: the embedded engine. */
  engine?: ForeignEngine;
  /** What the job needs, and variables that its run asks for. */
  environment: Omit<JobEnvironment, "SPOTTER_WORK_DIR"> & Record<string, string>;
  /** Commands that change the engine's image first. A home without images of its own leaves them to the agent. */
  imageOverlay?: readonly string[];
  /** Folders of this machine that it reads where they lie. A home that has no such folders ignores them. */
  folders?: readonly string[];
  /** It works on processors beside a training, and takes no place of one. */
  isBeside?: boolean;
  /** Absent: a processor. One machine ignores it. */
  hardware?: Hardware;
  /** Longest life: homes that cost money end it by themselves then, whether or not the control plane is there. */
  maxLifetimeMs?: number;
}

export interface ContainerHandle {
  jobId: string;
}

/** Why a container waits or ended. */
export type ContainerReason = "capacity" | "quota" | "image" | "oom" | "preempted" | "user" | "error";

export type ContainerState =
  /** `detail`: what the platform says about it, for people. */
  | { state: "waiting"; reason: ContainerReason; detail?: string }
  | { state: "starting" }
  /** `sinceMs`: when it began to run, where the platform says so: getting its image may take longer than a lease. */
  | { state: "running"; sinceMs?: number }
  | {
      state: "exited";
      exitCode: number | null;
      reason: ContainerReason | "done";
      logTail: string[];
      detail?: string;
      /** Why it never ran, where the platform is sure of it and says it in Spotter's words. */
      failure?: Failure;
    }
  /** Never heard of, or forgotten after it ended. */
  | { state: "unknown" };

export interface Containers {
  launch(spec: ContainerSpec): Promise<ContainerHandle>;
  describe(jobId: string): Promise<ContainerState>;
  /** Asks it to end, and ends it by force after `graceMs`. Resolves when it is gone; unknown ids are fine. */
  stop(jobId: string, graceMs: number): Promise<void>;
  /** Everything that waits or runs, for the sweep. */
  list(): Promise<{ jobId: string; kind: ContainerKind }[]>;
  /** Called when any container changes state. Returns the way to stop listening. */
  onChange(listener: (jobId: string) => void): () => void;
  /** The last lines a container wrote, oldest first. */
  logs(jobId: string, lines: number): Promise<string[]>;
  /** Removes what is kept about a container that has ended, its log too; one that has not is left alone. */
  forget(jobId: string): Promise<void>;
  /** Ends everything that still runs. */
  close(options?: { leaveRunning?: boolean }): Promise<void>;
}
