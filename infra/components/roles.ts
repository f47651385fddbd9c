import type * as aws from "@pulumi/aws";

/** What a function may do. Each stands for the calls of one adapter of `functions/aws`, or for a part of them. */
export type Grant =
  | "store"
  | "blobs"
  | "read-secrets"
  | "write-secrets"
  | "read-containers"
  | "run-containers"
  | "isolates"
  | "sweep-isolates"
  | "wake-reconciler"
  | "wake-scaler";

/** What a policy allows. */
export interface Statement {
  Effect: "Allow";
  Action: string[];
  Resource: string | string[];
  Condition?: Record<string, Record<string, string | string[]>>;
}

/** Names and ARNs that policies are made of. */
export interface StackNames {
  partition: string;
  region: string;
  account: string;
  /** What `SPOTTER_STACK` says: the value of the tag on everything. */
  stack: string;
  table: string;
  bucket: string;
  /** Role of the functions that run user code. */
  isolateRoleArn: string;
  /** Names of the functions that may be woken. */
  reconciler: string;
  scaler: string;
  containers: ContainerNames;
}

/** What runs and replicas are started from. */
export interface ContainerNames {
  clusterName: string;
  /** ARNs, with revision or without. */
  taskDefinitionArns: string[];
  jobDefinitionArns: string[];
  jobQueueArns: string[];
  /** Roles of the task definitions: of their execution, and of what runs in them. */
  taskRoleArns: string[];
  logGroupName: string;
}

/** The folder of the bucket that functions use, see functions/aws/aws-deps/blobs.ts. */
const BLOBS = "blobs";
/** Lambda's names are short: functions of user code begin with this much of the stack's. */
const ISOLATE_STACK_LENGTH = 30;

const GRANTS: Record<Grant, (names: StackNames) => Statement[]> = {
  store: (names) => [
    allow(
      [
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
        "dynamodb:DeleteItem",
        "dynamodb:Query",
      ],
      arnOf(names, "dynamodb", `table/${names.table}`),
    ),
    allow(["dynamodb:Query"], arnOf(names, "dynamodb", `table/${names.table}/index/*`)),
  ],
  blobs: ({ partition, bucket }) => [
    allow(
      ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
      `arn:${partition}:s3:::${bucket}/${BLOBS}/*`,
    ),
    // A list of nothing tells that an object is not there; without it S3 says "denied".
    allow(["s3:ListBucket"], `arn:${partition}:s3:::${bucket}`),
  ],
  "read-secrets": readSecrets,
  "write-secrets": (names) => [
    ...readSecrets(names),
    allow(["ssm:PutParameter", "ssm:DeleteParameter"], secretsOf(names)),
  ],
  "read-containers": readContainers,
  "run-containers": (names) => [
    ...readContainers(names),
    ...runTasks(names),
    ...runJobs(names),
    ...sweep(names),
  ],
  isolates,
  "sweep-isolates": (names) => [
    // "*": a list of functions has no resource.
    allow(["lambda:ListFunctions"], "*"),
    allow(["lambda:ListTags", "lambda:DeleteFunction"], isolatesOf(names)),
  ],
  "wake-reconciler": (names) => [wake(names, names.reconciler)],
  "wake-scaler": (names) => [wake(names, names.scaler)],
};

/**
 * The statements for these grants.
 *
 * @example statementsFor(["store", "wake-reconciler"], names)
 */
export function statementsFor(grants: readonly Grant[], names: StackNames): Statement[] {
  return grants.flatMap((grant) => GRANTS[grant](names));
}

/** A policy document, as text. */
export function policyOf(statements: Statement[]): string {
  return JSON.stringify({ Version: "2012-10-17", Statement: statements } satisfies aws.iam.PolicyDocument);
}

/** What writes to a log group of its own, and nothing else. `groupArn` as CloudWatch gives it, without `:*`. */
export function writeLogs(groupArn: string): Statement {
  return allow(["logs:CreateLogStream", "logs:PutLogEvents"], `${groupArn}:*`);
}

export function allow(
  actions: string[],
  resource: string | string[],
  condition?: Statement["Condition"],
): Statement {
  return {
    Effect: "Allow",
    Action: actions,
    Resource: resource,
    ...(condition !== undefined && { Condition: condition }),
  };
}

function arnOf({ partition, region, account }: StackNames, service: string, resource: string): string {
  return `arn:${partition}:${service}:${region}:${account}:${resource}`;
}

function secretsOf(names: StackNames): string {
  return arnOf(names, "ssm", `parameter/${names.stack}/secrets/*`);
}

function readSecrets(names: StackNames): Statement[] {
  const folder = arnOf(names, "ssm", `parameter/${names.stack}/secrets`);
  return [
    allow(["ssm:GetParameters"], secretsOf(names)),
    allow(["ssm:GetParametersByPath"], [folder, secretsOf(names)]),
    // The key that encrypts parameters has an id that only AWS knows; its alias, and who asks, say enough.
    allow(["kms:Decrypt"], arnOf(names, "kms", "key/*"), {
      StringEquals: { "kms:ViaService": `ssm.${names.region}.amazonaws.com` },
      "ForAnyValue:StringEquals": { "kms:ResourceAliases": "alias/aws/ssm" },
    }),
  ];
}

/** What runs, and what it wrote. */
function readContainers(names: StackNames): Statement[] {
  const { clusterName, logGroupName } = names.containers;
  return [
    allow(["ecs:DescribeTasks"], arnOf(names, "ecs", `task/${clusterName}/*`)),
    // "*": a list of tasks has no resource, only a cluster.
    allow(["ecs:ListTasks"], "*", inCluster(names)),
    // "*": Batch knows no resource for these.
    allow(["batch:ListJobs", "batch:DescribeJobs"], "*"),
    allow(["logs:GetLogEvents"], arnOf(names, "logs", `log-group:${logGroupName}:log-stream:*`)),
  ];
}

function runTasks(names: StackNames): Statement[] {
  const { clusterName, taskDefinitionArns, taskRoleArns } = names.containers;
  const tasks = arnOf(names, "ecs", `task/${clusterName}/*`);
  return [
    allow(["ecs:RunTask"], taskDefinitionArns.map(anyRevision), inCluster(names)),
    allow(["ecs:TagResource"], tasks, { StringEquals: { "ecs:CreateAction": "RunTask" } }),
    allow(["ecs:StopTask"], tasks),
    allow(["iam:PassRole"], taskRoleArns, {
      StringEquals: { "iam:PassedToService": "ecs-tasks.amazonaws.com" },
    }),
  ];
}

function runJobs(names: StackNames): Statement[] {
  const { jobDefinitionArns, jobQueueArns } = names.containers;
  const jobs = arnOf(names, "batch", "job/*");
  return [
    allow(
      ["batch:SubmitJob"],
      [...jobDefinitionArns.flatMap((arn) => [anyRevision(arn), withoutRevision(arn)]), ...jobQueueArns],
    ),
    allow(["batch:TagResource"], jobs, { StringEquals: { "aws:RequestTag/spotter:stack": names.stack } }),
    allow(["batch:TerminateJob"], jobs, { StringEquals: { "aws:ResourceTag/spotter:stack": names.stack } }),
  ];
}

/** Why no instance comes, and the end of those that nobody needs. */
function sweep(names: StackNames): Statement[] {
  const { clusterName } = names.containers;
  const ours = { "aws:ResourceTag/spotter:stack": names.stack };
  return [
    allow(["ecs:ListContainerInstances"], arnOf(names, "ecs", `cluster/${clusterName}`)),
    // Also those of Batch, whose clusters have names of its own making.
    allow(
      ["ecs:DescribeContainerInstances", "ecs:UpdateContainerInstancesState"],
      [`container-instance/${clusterName}/*`, "container-instance/*Batch*/*"].map((instances) =>
        arnOf(names, "ecs", instances),
      ),
    ),
    // "*": the groups' histories have no resource.
    allow(["autoscaling:DescribeScalingActivities"], "*"),
    allow(
      ["autoscaling:TerminateInstanceInAutoScalingGroup"],
      arnOf(names, "autoscaling", "autoScalingGroup:*:autoScalingGroupName/*"),
      { StringEquals: ours },
    ),
    allow(["ec2:TerminateInstances"], arnOf(names, "ec2", "instance/*"), { StringEquals: ours }),
  ];
}

/** User code in functions of its own: they are made when it is loaded. */
function isolates(names: StackNames): Statement[] {
  return [
    allow(
      [
        "lambda:CreateFunction",
        "lambda:GetFunction",
        "lambda:GetFunctionConfiguration",
        "lambda:InvokeFunction",
        "lambda:TagResource",
        "lambda:DeleteFunction",
      ],
      isolatesOf(names),
    ),
    allow(["iam:PassRole"], names.isolateRoleArn, {
      StringEquals: { "iam:PassedToService": "lambda.amazonaws.com" },
    }),
  ];
}

function isolatesOf(names: StackNames): string {
  return arnOf(names, "lambda", `function:${names.stack.slice(0, ISOLATE_STACK_LENGTH)}-isolate-*`);
}

function wake(names: StackNames, name: string): Statement {
  return allow(["lambda:InvokeFunction"], arnOf(names, "lambda", `function:${name}`));
}

function inCluster(names: StackNames) {
  return { ArnEquals: { "ecs:cluster": arnOf(names, "ecs", `cluster/${names.containers.clusterName}`) } };
}

/** Jobs that wait were made from an older revision, and the next deployment makes a newer one. */
function anyRevision(arn: string): string {
  return `${withoutRevision(arn)}:*`;
}

function withoutRevision(arn: string): string {
  return arn.replace(/:\d+$/, "");
}
