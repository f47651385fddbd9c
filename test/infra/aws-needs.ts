import type { Call } from "./aws-calls.ts";
import type { PermissionName } from "./aws-permissions.ts";

const INVOKES_ISOLATES = "functions/aws/lambda-isolates/lambda-process.ts";

/** What a call needs; most need one, and it is called as they are. */
const NEEDS: Record<string, PermissionName[]> = {
  "auto-scaling:DescribeScalingActivities": ["describeScaling"],
  "auto-scaling:TerminateInstanceInAutoScalingGroup": ["terminateInGroup"],
  "batch:DescribeJobs": ["describeJobs"],
  "batch:ListJobs": ["listJobs"],
  "batch:SubmitJob": ["submitJob", "tagJob"],
  "batch:TerminateJob": ["terminateJob"],
  "cloudwatch-logs:GetLogEvents": ["readLogs"],
  "dynamodb:DeleteItem": ["deleteItem"],
  "dynamodb:GetItem": ["getItem"],
  "dynamodb:PutItem": ["putItem"],
  "dynamodb:Query": ["query", "queryIndex"],
  "dynamodb:UpdateItem": ["updateItem"],
  "ec2:TerminateInstances": ["terminateInstances"],
  "ecs:DescribeContainerInstances": ["describeInstances"],
  "ecs:DescribeTasks": ["describeTasks"],
  "ecs:ListContainerInstances": ["listInstances"],
  "ecs:ListTasks": ["listTasks"],
  "ecs:RunTask": ["runTask", "tagTask", "passTaskRoles"],
  "ecs:StopTask": ["stopTask"],
  "ecs:UpdateContainerInstancesState": ["drainInstances"],
  "lambda:CreateFunction": ["createIsolate", "tagIsolate", "passIsolateRole"],
  "lambda:DeleteFunction": ["deleteIsolate"],
  "lambda:GetFunction": ["getIsolate"],
  "lambda:GetFunctionConfiguration": ["getIsolateSettings"],
  "lambda:ListFunctions": ["listFunctions"],
  "lambda:ListTags": ["listIsolateTags"],
  "lambda:TagResource": ["tagIsolate"],
  "s3:AbortMultipartUpload": ["abortUpload"],
  "s3:CompleteMultipartUpload": ["putObject"],
  "s3:CreateMultipartUpload": ["putObject"],
  "s3:DeleteObject": ["deleteObject"],
  "s3:GetObject": ["getObject"],
  "s3:HeadObject": ["getObject"],
  "s3:ListObjectsV2": ["listBucket"],
  "s3:PutObject": ["putObject"],
  "s3:UploadPart": ["putObject"],
  "ssm:DeleteParameter": ["deleteSecret"],
  "ssm:GetParameters": ["getSecrets", "decryptSecrets"],
  "ssm:GetParametersByPath": ["listSecrets", "decryptSecrets"],
  "ssm:PutParameter": ["putSecret"],
};

/**
 * What a role needs for this call.
 *
 * @param environment Of the process: it names whom it wakes.
 * @throws Error for a call that is not in the table: somebody has to say what it needs.
 */
export function needsOf(
  { client, command, file }: Call,
  environment: Record<string, string>,
): PermissionName[] {
  if (client === "lambda" && command === "Invoke") {
    if (file === INVOKES_ISOLATES) return ["invokeIsolate"];
    return [
      ...(environment["SPOTTER_RECONCILER_FUNCTION"] === undefined ? [] : ["wakeReconciler" as const]),
      ...(environment["SPOTTER_SCALER_FUNCTION"] === undefined ? [] : ["wakeScaler" as const]),
    ];
  }
  const needs = NEEDS[`${client}:${command}`];
  if (needs === undefined)
    throw new Error(`${file} calls ${client}:${command}, for which there is no permission.`);
  return needs;
}

/** Calls that more processes could make than do: they have an adapter whole, and use a part of it. */
export const ONLY: { permissions: PermissionName[]; by: string[]; why: string }[] = [
  {
    permissions: [
      ...(["runTask", "tagTask", "passTaskRoles", "stopTask"] as const),
      ...(["submitJob", "tagJob", "terminateJob", "describeScaling"] as const),
      ...(["listInstances", "describeInstances", "drainInstances"] as const),
      ...(["terminateInGroup", "terminateInstances"] as const),
    ],
    by: ["reconciler"],
    why: "The others read what containers wrote, by `containers.logs`.",
  },
  {
    permissions: ["putSecret", "deleteSecret"],
    by: ["secrets"],
    why: "The others read them, to use or to hide them.",
  },
];
