import type { Grant } from "./roles.ts";

/** One function of `functions/lambda`. */
export interface FunctionDefinition {
  /**
   * By whom it is asked, and how it answers: over HTTP by the front door, with the whole answer or piece by piece; or
   * by an event, a schedule, or whoever may invoke it.
   */
  asked: "http" | "stream" | "event";
  /** The share of a processor grows with it: all of one at 1769. */
  memoryMiB: number;
  timeoutS: number;
  grants: readonly Grant[];
  /** Names the function that reconciles or scales in its variables. */
  wakes?: readonly ("reconciler" | "scaler")[];
  /** Variables of adapters beyond the store, see functions/aws/aws-deps. */
  needs?: readonly ("bucket" | "containers" | "isolates")[];
  /** Reaches replicas, which have private addresses. Such a function takes long to be destroyed. */
  inNetwork?: true;
  /** There in stacks whose gateway is a function, and in no others. */
  onlyWithoutGateway?: true;
  /**
   * Paths of its routes as the front door matches them: `*` is any text, also none and also with slashes. Few, as a
   * distribution may have 25 of them.
   */
  paths?: readonly string[];
}

/** Time that loading user code, and judging some rows with it, may take. CloudFront waits as long. */
const JUDGING_S = 60;
/** The longest that Lambda knows. */
const LONGEST_S = 900;

/** What models are asked by. */
const GATEWAY_CHAT = ["/v1*", "/tokenize", "/detokenize", "/healthz", "/ui/api/chat"] as const;

/** What a gateway container answers: chat, streams of events, and the metrics of both. */
export const GATEWAY_PATHS: readonly string[] = [...GATEWAY_CHAT, "/runs/*/events/stream", "/metrics"];

/**
 * Every function of the stack. Grants are what its routes do, not all that its adapters could: `runs` reads
 * what containers wrote, but only the reconciler starts them.
 */
export const FUNCTIONS = {
  chat: {
    asked: "stream",
    memoryMiB: 1024,
    timeoutS: LONGEST_S,
    grants: ["store", "blobs", "read-secrets", "wake-reconciler", "wake-scaler"],
    wakes: ["reconciler", "scaler"],
    needs: ["bucket"],
    inNetwork: true,
    onlyWithoutGateway: true,
    paths: GATEWAY_CHAT,
  },
  datasets: {
    asked: "http",
    memoryMiB: 1024,
    timeoutS: JUDGING_S,
    grants: ["store", "blobs"],
    needs: ["bucket"],
    paths: ["/datasets*", "/models*"],
  },
  endpoints: {
    asked: "http",
    memoryMiB: 1024,
    timeoutS: 30,
    grants: ["store", "blobs", "read-secrets", "read-containers", "wake-reconciler"],
    wakes: ["reconciler"],
    needs: ["bucket", "containers"],
    paths: ["/endpoints*", "/aliases*"],
  },
  evals: {
    asked: "http",
    memoryMiB: 1024,
    timeoutS: JUDGING_S,
    grants: ["store", "blobs", "read-secrets", "read-containers", "isolates", "wake-reconciler"],
    wakes: ["reconciler"],
    needs: ["bucket", "containers", "isolates"],
    paths: ["/evals*", "/ui/api/evals"],
  },
  events: {
    asked: "http",
    memoryMiB: 512,
    // A poll waits 25 seconds for news.
    timeoutS: 40,
    grants: ["store"],
    paths: ["/runs/*/events"],
  },
  jobs: {
    asked: "http",
    memoryMiB: 1024,
    timeoutS: JUDGING_S,
    grants: ["store", "blobs", "read-secrets", "isolates", "wake-reconciler"],
    wakes: ["reconciler"],
    needs: ["bucket", "isolates"],
    paths: ["/jobs/*"],
  },
  "key-bootstrap": {
    asked: "event",
    memoryMiB: 512,
    timeoutS: 30,
    grants: ["store"],
  },
  keys: {
    asked: "http",
    memoryMiB: 512,
    timeoutS: 30,
    grants: ["store", "read-secrets"],
    paths: ["/keys*", "/webhooks*"],
  },
  // Everything else comes here: the pages, what is told of the whole, and addresses that nobody knows.
  pages: {
    asked: "stream",
    memoryMiB: 1024,
    timeoutS: 40,
    grants: ["store", "blobs", "read-secrets", "read-containers", "wake-reconciler"],
    wakes: ["reconciler"],
    needs: ["bucket", "containers"],
    paths: ["*"],
  },
  reconciler: {
    asked: "event",
    memoryMiB: 1024,
    timeoutS: 120,
    grants: ["store", "blobs", "read-secrets", "run-containers", "sweep-isolates", "wake-reconciler"],
    wakes: ["reconciler"],
    needs: ["bucket", "containers"],
  },
  runs: {
    asked: "http",
    memoryMiB: 1024,
    timeoutS: JUDGING_S,
    grants: ["store", "blobs", "read-secrets", "read-containers", "isolates", "wake-reconciler"],
    wakes: ["reconciler"],
    needs: ["bucket", "containers", "isolates"],
    paths: ["/runs*", "/checkpoints/*", "/cleanup"],
  },
  scaler: {
    asked: "event",
    memoryMiB: 512,
    timeoutS: LONGEST_S,
    grants: ["store", "wake-reconciler"],
    wakes: ["reconciler"],
    onlyWithoutGateway: true,
  },
  secrets: {
    asked: "http",
    memoryMiB: 512,
    timeoutS: 30,
    grants: ["store", "write-secrets"],
    paths: ["/secrets*"],
  },
  "user-code": {
    asked: "http",
    memoryMiB: 1024,
    timeoutS: JUDGING_S,
    grants: ["store", "blobs", "read-secrets", "isolates"],
    needs: ["bucket", "isolates"],
    paths: ["/user-code/*"],
  },
} as const satisfies Record<string, FunctionDefinition>;

export type FunctionName = keyof typeof FUNCTIONS;

/** The functions of a stack with this gateway. */
export function functionsFor(gateway: "fargate" | "lambda"): [FunctionName, FunctionDefinition][] {
  const all = Object.entries(FUNCTIONS) as [FunctionName, FunctionDefinition][];
  return all.filter(([, { onlyWithoutGateway }]) => gateway === "lambda" || onlyWithoutGateway !== true);
}

/** Where a request is sent that matches this path. */
export interface PathRule {
  path: string;
  to: FunctionName | "gateway";
}

/**
 * The rules of the front door: the first that matches counts. Longer ones come first, as they say more. The last is
 * `*`, for everything that no other one takes.
 */
export function pathRules(gateway: "fargate" | "lambda"): PathRule[] {
  const ofFunctions = functionsFor(gateway).flatMap(([to, { paths = [] }]) =>
    paths.map((path) => ({ path, to })),
  );
  const ofGateway = GATEWAY_PATHS.map((path): PathRule => ({ path, to: "gateway" }));
  return [...ofFunctions, ...(gateway === "fargate" ? ofGateway : [])].toSorted(
    (a, b) => b.path.length - a.path.length || (a.path < b.path ? -1 : 1),
  );
}
