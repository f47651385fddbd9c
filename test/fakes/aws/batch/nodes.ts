import type * as batch from "@aws-sdk/client-batch";
import { clientError } from "./definitions.ts";
import { finished, type JobRecord, type Jobs } from "./jobs.ts";

type Properties = batch.NodeProperties | undefined;

/** How many nodes a submitted job has. */
export function nodesOf(properties: Properties, overrides: batch.NodeOverrides | undefined): number {
  const { numNodes = 1, mainNode = 0, nodeRangeProperties = [] } = properties ?? {};
  const wanted = overrides?.numNodes ?? numNodes;
  const isOpen = nodeRangeProperties.some(({ targetNodes = "" }) => targetNodes.endsWith(":"));
  if (wanted !== numNodes && !isOpen)
    throw clientError("numNodes can be overridden where a node range has an open end only.");
  if (mainNode >= wanted) throw clientError("The main node must be one of the nodes.");
  return wanted;
}

/** The one of these ranges (`0:`, `1:3`) that a node is in. */
export function rangeOf<T extends { targetNodes: string | undefined }>(
  ranges: readonly T[] | undefined,
  node: number,
): T | undefined {
  return ranges?.find(({ targetNodes = "" }) => {
    const [from = "0", to = from] = targetNodes.split(":");
    return node >= Number(from || 0) && (to === "" || node <= Number(to));
  });
}

/**
 * Starts the main node; once it runs, the others. The job is as the main node is: a node that dies changes nothing, and
 * with the main one all are ended.
 */
export function startNodes(jobs: Jobs, whole: JobRecord, nodes: readonly JobRecord[], main: number): void {
  const mainNode = nodes[main];
  if (mainNode === undefined) throw new Error("a job without a main node");
  whole.main = mainNode;
  const others = nodes.filter((node) => node !== mainNode);
  for (const [rank, node] of nodes.entries())
    node.node = {
      environment: {
        AWS_BATCH_JOB_NUM_NODES: String(nodes.length),
        AWS_BATCH_JOB_NODE_INDEX: String(rank),
        AWS_BATCH_JOB_MAIN_NODE_INDEX: String(main),
        ...(node !== mainNode && { AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS: "127.0.0.1" }),
      },
      moved: () => {
        if (node === mainNode) followMain();
      },
    };
  const followMain = (): void => {
    const { status, statusReason, startedAt, stoppedAt, attempts } = mainNode.job;
    Object.assign(whole.job, { statusReason, startedAt, stoppedAt, attempts });
    jobs.follow(whole, status);
    if (status === "RUNNING") for (const node of others) jobs.submit(node);
    if (finished(mainNode))
      for (const node of others)
        if (jobs.records.has(node.job.jobId)) jobs.terminate(node, "Main node exited", "isTerminated");
  };
  jobs.submit(mainNode);
}
