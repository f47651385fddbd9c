import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { cloud } from "./engine/cloud.ts";
import { StandInMonitor, type Recording } from "./engine/monitor.ts";
import { awaitFeatureSupport } from "./engine/pulumi-proto.ts";

export type { Recording, Registered as Recorded } from "./engine/monitor.ts";

export interface RecordOptions {
  /** As `pulumi preview` before the first deployment: no output of any resource is known. Default: false. */
  preview?: boolean;
  /** Default: test. */
  stack?: string;
}

let runs = 0;

/**
 * Runs the whole program in this process against a stand-in for Pulumi's engine and for AWS; resolves to what it
 * would create, and its outputs.
 *
 * @example
 * const { resources, outputs } = await recordStack({ "spotter:removal": "destroy" });
 */
export function recordStack(config?: Record<string, string>, options?: RecordOptions): Promise<Recording> {
  return record(
    async () => {
      // Only now: the resources of the program belong to the engine that is set when it is loaded. A name of its own
      // for each run, as a module that was loaded once does nothing when it is loaded again.
      const entry = `${join(import.meta.dirname, "../../infra/index.ts")}?run=${++runs}`;
      const { default: _, ...outputs } = (await import(/* @vite-ignore */ entry)) as Record<string, unknown>;
      return outputs;
    },
    config,
    options,
  );
}

/** The same for a part of the program: what `program` creates, and what it returns as outputs. */
export async function record(
  program: () => Promise<Record<string, unknown>>,
  config: Record<string, string> = {},
  { preview = false, stack = "test" }: RecordOptions = {},
): Promise<Recording> {
  const monitor = new StandInMonitor({ stack, project: "spotter", preview, cloud });
  pulumi.runtime.setAllConfig({ "aws:region": "eu-central-1", ...config });
  pulumi.runtime.setMockOptions(monitor, "spotter", stack, preview, "organization");
  await awaitFeatureSupport();
  const restore = withoutStackTraces();
  try {
    await pulumi.runtime.runInPulumiStack(program);
    await pulumi.runtime.disconnect();
  } finally {
    restore();
  }
  return monitor.recording();
}

/**
 * Pulumi keeps a stack trace of each of its promises and resources; to take them and to map them to sources is nine
 * tenths of the time. What fails in the program tells its message, and no trace.
 */
function withoutStackTraces(): () => void {
  const prepareStackTrace: unknown = Reflect.get(Error, "prepareStackTrace");
  const before = { prepareStackTrace, stackTraceLimit: Error.stackTraceLimit };
  Object.assign(Error, { prepareStackTrace: (error: Error) => error.toString(), stackTraceLimit: 0 });
  return () => {
    Object.assign(Error, before);
  };
}
