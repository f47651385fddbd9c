import type { LambdaClient, LambdaClientConfig } from "@aws-sdk/client-lambda";
import type { UserMessage } from "../../isolate-host/isolate.ts";

export interface LambdaIsolatesParams {
  /** Name of the stack: the start of all names, and the tag `spotter:stack`. */
  stack: string;
  /** Role of the functions that run user code: one that Lambda may assume and that has no rights at all. */
  roleArn: string;
  /** The bundled text of functions/lambda/user-code-host.ts. */
  hostCode: string;
  /** Subnets that lead nowhere, and a security group without rules. Default: Lambda's own network, which is open. */
  network?: { subnetIds: string[]; securityGroupIds: string[] };
  /** JavaScript heap, and the same again for typed arrays, per isolate. Default 256. */
  memoryMiB?: number;
  /** Longest time until a module is loaded. Default 10 s. */
  loadTimeoutMs?: number;
  /** Lambda's own limit of an invocation, the last watchdog. Default 900 s, the most there is. */
  functionTimeoutS?: number;
  /**
   * Default arm64: the control plane's own, and so the same rounding, for a fifth less. Bundles are JavaScript without
   * native parts, which run on either.
   */
  architecture?: "x86_64" | "arm64";
  /** Most invocations of one bundle at once, from one control plane. Default 8. */
  maxConcurrency?: number;
  /** How long to repeat what is throttled or not ready yet. Default 60 s; VPC functions take long to be ready. */
  patienceMs?: number;
  /** Gets what user code prints, capped. */
  onMessage?: (message: UserMessage) => void;
  client?: LambdaClientConfig;
  now?: () => number;
}

export const ARCHITECTURE = "arm64";

/** What the parts of this adapter share. */
export interface LambdaContext {
  params: LambdaIsolatesParams;
  memoryMiB: number;
  loadTimeoutMs: number;
  functionTimeoutS: number;
  patienceMs: number;
  client: () => Promise<LambdaClient>;
  now: () => number;
}
