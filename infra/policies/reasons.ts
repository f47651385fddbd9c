/**
 * Everything that looks too wide and is meant so. The rules let pass what is in here and nothing else, so this page
 * is what a reviewer has to read.
 */

interface WideAction {
  /** Why no resource is named. */
  why: string;
  /** A condition that the statement has to carry instead, by the start of its key. */
  needs?: string;
}

const ONLY_READS = "AWS knows no resource for it; it only reads.";
/** Of the agent on GPU hosts: instances have no ARN before they are registered, so their cluster is named instead. */
const OF_AGENTS: WideAction = {
  why: "Instances have no ARN before they are registered.",
  needs: "ecs:cluster",
};

/** Calls that may be allowed on all resources ("*"). */
export const WIDE_ACTIONS: Readonly<Record<string, WideAction>> = {
  "autoscaling:DescribeScalingActivities": { why: ONLY_READS },
  "batch:DescribeJobs": { why: ONLY_READS },
  "batch:ListJobs": { why: ONLY_READS },
  "ecs:DiscoverPollEndpoint": { why: "It tells which address an agent has to ask, and belongs to nothing." },
  "ecs:ListTasks": {
    why: "Its resource is an instance of the cluster, which Fargate has not.",
    needs: "ecs:cluster",
  },
  "ecs:Poll": OF_AGENTS,
  "ecs:StartTelemetrySession": OF_AGENTS,
  "ecs:UpdateContainerInstancesState": OF_AGENTS,
  "lambda:ListFunctions": { why: ONLY_READS },
};

/**
 * Conditions that narrow "everybody" to somebody: with one of these, S3 and SNS do not take a policy for public.
 */
export const NARROWING = [
  "aws:SourceVpce",
  "aws:SourceVpc",
  "aws:SourceAccount",
  "aws:SourceArn",
  "aws:PrincipalOrgID",
];

/** Resources that may be reached from everywhere, by their names. */
export const OPEN_INGRESS: Readonly<Record<string, string>> = {};

/** What may speak HTTP without TLS, by its name. */
export const PLAIN_HTTP: Readonly<Record<string, string>> = {
  gateway:
    "Without a domain there is no name that a certificate of the load balancer could be for. Only CloudFront reaches " +
    "it, over the network of AWS; with a domain it speaks TLS.",
};

/** NAT gateways, by their names. */
export const NAT_GATEWAYS: Readonly<Record<string, string>> = {
  "network-nodes":
    "Nodes of one training over several instances get no public address from Batch. It is there with multiNode only.",
};
