import type { Question } from "./iam.ts";

/** What of a recorded stack is asked about. */
export interface World {
  /** Value of the tag `spotter:stack`. */
  stack: string;
  table: string;
  bucket: string;
  cluster: string;
  logGroup: string;
  taskDefinitions: string[];
  jobDefinitions: string[];
  jobQueues: string[];
  /** Of the tasks: of their execution, and of what runs in them. */
  taskRoles: string[];
  isolateRole: string;
  reconciler: string;
  scaler: string;
}

/** What a role may do if it has to: asked of the stack's own things, which is allowed, and of others', which is not. */
export interface Permission {
  action: string;
  mine: Omit<Question, "action">[];
  others: Omit<Question, "action">[];
}

const PLACE = "eu-central-1:123456789012";
const arn = (service: string, resource: string) => `arn:aws:${service}:${PLACE}:${resource}`;
const on = (resource: string, context?: Question["context"]) => ({ resource, ...(context && { context }) });
const cluster = (name: string) => ({ "ecs:cluster": arn("ecs", `cluster/${name}`) });
const passed = (service: string) => ({ "iam:PassedToService": `${service}.amazonaws.com` });
const tagged = (stack: string) => ({ "aws:ResourceTag/spotter:stack": stack });
const ID = "0123456789abcdef0";

function ofTable(action: string, { table }: World): Permission {
  const other = on(arn("dynamodb", "table/other-1a2b3c4"));
  return { action: `dynamodb:${action}`, mine: [on(arn("dynamodb", `table/${table}`))], others: [other] };
}

function ofObject(action: string, { bucket }: World): Permission {
  return {
    action: `s3:${action}`,
    mine: [on(`arn:aws:s3:::${bucket}/blobs/ab/cd`)],
    others: [
      on("arn:aws:s3:::other/blobs/ab/cd"),
      ...(action === "GetObject" ? [] : [on(`arn:aws:s3:::${bucket}/programs/engine.tgz`)]),
    ],
  };
}

function ofParameter(
  action: string,
  { stack }: World,
  mine = `parameter/${stack}/secrets/TOKEN`,
): Permission {
  return {
    action: `ssm:${action}`,
    mine: [on(arn("ssm", mine))],
    others: [
      on(arn("ssm", "parameter/other/secrets/TOKEN")),
      on(arn("ssm", `parameter/${stack}/settings/TOKEN`)),
    ],
  };
}

function ofTask(action: string, world: World, context?: Question["context"]): Permission {
  return {
    action: `ecs:${action}`,
    mine: [on(arn("ecs", `task/${world.cluster}/${ID}`), context)],
    others: [on(arn("ecs", `task/other/${ID}`), context)],
  };
}

/** Also of the clusters that Batch makes: nobody knows their names before, but for what is in all of them. */
function ofInstance(action: string, world: World): Permission {
  const instance = (name: string) => on(arn("ecs", `container-instance/${name}/${ID}`));
  return {
    action: `ecs:${action}`,
    mine: [instance(world.cluster), instance("AWSBatch-train-0123"), instance("train_Batch_0123")],
    others: [instance("other")],
  };
}

function ofIsolate(action: string, { stack }: World): Permission {
  return {
    action: `lambda:${action}`,
    mine: [on(arn("lambda", `function:${stack}-isolate-0123`))],
    others: [
      on(arn("lambda", "function:other-isolate-0123")),
      on(arn("lambda", `function:spotter-${stack}-runs`)),
    ],
  };
}

const onAll = (action: string): Permission => ({ action, mine: [on("*")], others: [] });
const wake = (name: string): Permission => ({
  action: "lambda:InvokeFunction",
  mine: [on(arn("lambda", `function:${name}`))],
  others: [on(arn("lambda", "function:another"))],
});

/** Everything that a process of the control plane may have to do in AWS. */
export const PERMISSIONS = {
  getItem: (world) => ofTable("GetItem", world),
  putItem: (world) => ofTable("PutItem", world),
  updateItem: (world) => ofTable("UpdateItem", world),
  deleteItem: (world) => ofTable("DeleteItem", world),
  query: (world) => ofTable("Query", world),
  queryIndex: ({ table }) => ({
    action: "dynamodb:Query",
    mine: [on(arn("dynamodb", `table/${table}/index/index1`))],
    others: [on(arn("dynamodb", "table/other-1a2b3c4/index/index1"))],
  }),
  getObject: (world) => ofObject("GetObject", world),
  putObject: (world) => ofObject("PutObject", world),
  deleteObject: (world) => ofObject("DeleteObject", world),
  abortUpload: (world) => ofObject("AbortMultipartUpload", world),
  listBucket: ({ bucket }) => ({
    action: "s3:ListBucket",
    mine: [on(`arn:aws:s3:::${bucket}`, { "s3:prefix": "blobs/ab" })],
    others: [on("arn:aws:s3:::other", { "s3:prefix": "blobs/ab" })],
  }),
  getSecrets: (world) => ofParameter("GetParameters", world),
  listSecrets: (world) => ofParameter("GetParametersByPath", world, `parameter/${world.stack}/secrets/`),
  putSecret: (world) => ofParameter("PutParameter", world),
  deleteSecret: (world) => ofParameter("DeleteParameter", world),
  decryptSecrets: () => {
    const key = arn("kms", `key/${ID}`);
    const bySsm = { "kms:ViaService": "ssm.eu-central-1.amazonaws.com" };
    return {
      action: "kms:Decrypt",
      mine: [on(key, { ...bySsm, "kms:ResourceAliases": ["alias/aws/ssm"] })],
      others: [
        on(key, { "kms:ResourceAliases": ["alias/aws/ssm"] }),
        on(key, { ...bySsm, "kms:ResourceAliases": ["alias/of-somebody"] }),
      ],
    };
  },
  runTask: (world) => ({
    action: "ecs:RunTask",
    mine: world.taskDefinitions.map((each) => on(each, cluster(world.cluster))),
    others: [
      ...world.taskDefinitions.map((each) => on(each, cluster("other"))),
      on(arn("ecs", "task-definition/other:1"), cluster(world.cluster)),
    ],
  }),
  tagTask: (world) => {
    const { action, mine, others } = ofTask("TagResource", world, { "ecs:CreateAction": "RunTask" });
    const later = mine.map(({ resource }) => on(resource, { "ecs:CreateAction": "CreateService" }));
    return { action, mine, others: [...others, ...later] };
  },
  stopTask: (world) => ofTask("StopTask", world),
  describeTasks: (world) => ofTask("DescribeTasks", world),
  listTasks: (world) => ({
    action: "ecs:ListTasks",
    mine: [on(arn("ecs", `container-instance/${world.cluster}/${ID}`), cluster(world.cluster))],
    others: [on(arn("ecs", `container-instance/other/${ID}`), cluster("other"))],
  }),
  passTaskRoles: ({ taskRoles }) => ({
    action: "iam:PassRole",
    mine: taskRoles.map((role) => on(role, passed("ecs-tasks"))),
    others: [
      on("arn:aws:iam::123456789012:role/Admin", passed("ecs-tasks")),
      ...taskRoles.map((role) => on(role, passed("ec2"))),
    ],
  }),
  listInstances: (world) => ({
    action: "ecs:ListContainerInstances",
    mine: [on(arn("ecs", `cluster/${world.cluster}`))],
    others: [on(arn("ecs", "cluster/other"))],
  }),
  describeInstances: (world) => ofInstance("DescribeContainerInstances", world),
  drainInstances: (world) => ofInstance("UpdateContainerInstancesState", world),
  submitJob: ({ jobDefinitions, jobQueues }) => ({
    action: "batch:SubmitJob",
    mine: [...jobDefinitions, ...jobQueues].map((each) => on(each)),
    others: [on(arn("batch", "job-definition/other:1")), on(arn("batch", "job-queue/other"))],
  }),
  tagJob: ({ stack }) => ({
    action: "batch:TagResource",
    mine: [on(arn("batch", `job/${ID}`), { "aws:RequestTag/spotter:stack": stack })],
    others: [on(arn("batch", `job/${ID}`), { "aws:RequestTag/spotter:stack": "other" })],
  }),
  terminateJob: ({ stack }) => ({
    action: "batch:TerminateJob",
    mine: [on(arn("batch", `job/${ID}`), tagged(stack))],
    others: [on(arn("batch", `job/${ID}`), tagged("other")), on(arn("batch", `job/${ID}`))],
  }),
  listJobs: () => onAll("batch:ListJobs"),
  describeJobs: () => onAll("batch:DescribeJobs"),
  readLogs: ({ logGroup }) => ({
    action: "logs:GetLogEvents",
    mine: [on(arn("logs", `log-group:${logGroup}:log-stream:spotter/spotter/${ID}`))],
    others: [on(arn("logs", "log-group:/other:log-stream:spotter"))],
  }),
  describeScaling: () => onAll("autoscaling:DescribeScalingActivities"),
  terminateInGroup: ({ stack }) => {
    const group = arn("autoscaling", `autoScalingGroup:${ID}:autoScalingGroupName/any`);
    return {
      action: "autoscaling:TerminateInstanceInAutoScalingGroup",
      mine: [on(group, tagged(stack))],
      others: [on(group, tagged("other")), on(group)],
    };
  },
  terminateInstances: ({ stack }) => {
    const instance = arn("ec2", `instance/i-${ID}`);
    return {
      action: "ec2:TerminateInstances",
      mine: [on(instance, tagged(stack))],
      others: [on(instance, tagged("other")), on(instance)],
    };
  },
  createIsolate: (world) => ofIsolate("CreateFunction", world),
  getIsolate: (world) => ofIsolate("GetFunction", world),
  getIsolateSettings: (world) => ofIsolate("GetFunctionConfiguration", world),
  invokeIsolate: (world) => ofIsolate("InvokeFunction", world),
  tagIsolate: (world) => ofIsolate("TagResource", world),
  deleteIsolate: (world) => ofIsolate("DeleteFunction", world),
  listIsolateTags: (world) => ofIsolate("ListTags", world),
  listFunctions: () => onAll("lambda:ListFunctions"),
  passIsolateRole: ({ isolateRole }) => ({
    action: "iam:PassRole",
    mine: [on(isolateRole, passed("lambda"))],
    others: [on("arn:aws:iam::123456789012:role/Admin", passed("lambda")), on(isolateRole, passed("ec2"))],
  }),
  wakeReconciler: ({ reconciler }) => wake(reconciler),
  wakeScaler: ({ scaler }) => wake(scaler),
} as const satisfies Record<string, (world: World) => Permission>;

export type PermissionName = keyof typeof PERMISSIONS;
