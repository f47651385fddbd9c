import type * as AutoScaling from "@aws-sdk/client-auto-scaling";
import type * as Batch from "@aws-sdk/client-batch";
import type * as Logs from "@aws-sdk/client-cloudwatch-logs";
import type * as Ec2 from "@aws-sdk/client-ec2";
import type * as Ecs from "@aws-sdk/client-ecs";
import { lazy, loadClient, REQUEST_TIMES } from "../load-client.ts";

/** The calls that are made, and no others: the policies of the functions allow exactly these. */
export interface EcsApi {
  runTask(input: Ecs.RunTaskCommandInput): Promise<Ecs.RunTaskCommandOutput>;
  stopTask(input: Ecs.StopTaskCommandInput): Promise<Ecs.StopTaskCommandOutput>;
  listTasks(input: Ecs.ListTasksCommandInput): Promise<Ecs.ListTasksCommandOutput>;
  describeTasks(input: Ecs.DescribeTasksCommandInput): Promise<Ecs.DescribeTasksCommandOutput>;
  listContainerInstances(
    input: Ecs.ListContainerInstancesCommandInput,
  ): Promise<Ecs.ListContainerInstancesCommandOutput>;
  describeContainerInstances(
    input: Ecs.DescribeContainerInstancesCommandInput,
  ): Promise<Ecs.DescribeContainerInstancesCommandOutput>;
  updateContainerInstancesState(
    input: Ecs.UpdateContainerInstancesStateCommandInput,
  ): Promise<Ecs.UpdateContainerInstancesStateCommandOutput>;
}

interface BatchApi {
  submitJob(input: Batch.SubmitJobCommandInput): Promise<Batch.SubmitJobCommandOutput>;
  terminateJob(input: Batch.TerminateJobCommandInput): Promise<Batch.TerminateJobCommandOutput>;
  listJobs(input: Batch.ListJobsCommandInput): Promise<Batch.ListJobsCommandOutput>;
  describeJobs(input: Batch.DescribeJobsCommandInput): Promise<Batch.DescribeJobsCommandOutput>;
}

export interface LogsApi {
  getLogEvents(input: Logs.GetLogEventsCommandInput): Promise<Logs.GetLogEventsCommandOutput>;
}

export interface AutoScalingApi {
  describeScalingActivities(
    input: AutoScaling.DescribeScalingActivitiesCommandInput,
  ): Promise<AutoScaling.DescribeScalingActivitiesCommandOutput>;
  terminateInstance(
    input: AutoScaling.TerminateInstanceInAutoScalingGroupCommandInput,
  ): Promise<AutoScaling.TerminateInstanceInAutoScalingGroupCommandOutput>;
}

interface Ec2Api {
  terminateInstances(input: Ec2.TerminateInstancesCommandInput): Promise<Ec2.TerminateInstancesCommandOutput>;
}

/** Each is loaded when it is first needed. */
export interface AwsApis {
  ecs(): Promise<EcsApi>;
  batch(): Promise<BatchApi>;
  logs(): Promise<LogsApi>;
  autoScaling(): Promise<AutoScalingApi>;
  ec2(): Promise<Ec2Api>;
}

interface ClientOptions {
  region?: string;
  endpoint?: string;
  /** Absent: the role of the function, or the environment. */
  credentials?: { accessKeyId: string; secretAccessKey: string };
  /** After which time an attempt without an answer has failed. Default 15 s. */
  timeoutMs?: number;
}

type Config = Omit<ClientOptions, "timeoutMs"> & { requestHandler: typeof REQUEST_TIMES };

/** The clients of AWS, behind the calls that are made of them. */
export function awsApis({ timeoutMs = REQUEST_TIMES.requestTimeout, ...client }: ClientOptions): AwsApis {
  const options = { ...client, requestHandler: { ...REQUEST_TIMES, requestTimeout: timeoutMs } };
  return {
    ecs: lazy(() => ecsApi(options)).get,
    batch: lazy(() => batchApi(options)).get,
    logs: lazy(() => logsApi(options)).get,
    autoScaling: lazy(() => autoScalingApi(options)).get,
    ec2: lazy(() => ec2Api(options)).get,
  };
}

async function ecsApi(options: Config): Promise<EcsApi> {
  const sdk = await loadClient("@aws-sdk/client-ecs", () => import("@aws-sdk/client-ecs"));
  const client = new sdk.ECSClient(options);
  return {
    runTask: (input) => client.send(new sdk.RunTaskCommand(input)),
    stopTask: (input) => client.send(new sdk.StopTaskCommand(input)),
    listTasks: (input) => client.send(new sdk.ListTasksCommand(input)),
    describeTasks: (input) => client.send(new sdk.DescribeTasksCommand(input)),
    listContainerInstances: (input) => client.send(new sdk.ListContainerInstancesCommand(input)),
    describeContainerInstances: (input) => client.send(new sdk.DescribeContainerInstancesCommand(input)),
    updateContainerInstancesState: (input) =>
      client.send(new sdk.UpdateContainerInstancesStateCommand(input)),
  };
}

async function batchApi(options: Config): Promise<BatchApi> {
  const sdk = await loadClient("@aws-sdk/client-batch", () => import("@aws-sdk/client-batch"));
  const client = new sdk.BatchClient(options);
  // SubmitJob is not idempotent: a client that repeats it by itself after a lost answer makes a second job.
  const submitter = new sdk.BatchClient({ ...options, maxAttempts: 1 });
  return {
    submitJob: (input) => submitter.send(new sdk.SubmitJobCommand(input)),
    terminateJob: (input) => client.send(new sdk.TerminateJobCommand(input)),
    listJobs: (input) => client.send(new sdk.ListJobsCommand(input)),
    describeJobs: (input) => client.send(new sdk.DescribeJobsCommand(input)),
  };
}

async function logsApi(options: Config): Promise<LogsApi> {
  const sdk = await loadClient(
    "@aws-sdk/client-cloudwatch-logs",
    () => import("@aws-sdk/client-cloudwatch-logs"),
  );
  const client = new sdk.CloudWatchLogsClient(options);
  return { getLogEvents: (input) => client.send(new sdk.GetLogEventsCommand(input)) };
}

async function autoScalingApi(options: Config): Promise<AutoScalingApi> {
  const sdk = await loadClient("@aws-sdk/client-auto-scaling", () => import("@aws-sdk/client-auto-scaling"));
  const client = new sdk.AutoScalingClient(options);
  return {
    describeScalingActivities: (input) => client.send(new sdk.DescribeScalingActivitiesCommand(input)),
    terminateInstance: (input) => client.send(new sdk.TerminateInstanceInAutoScalingGroupCommand(input)),
  };
}

async function ec2Api(options: Config): Promise<Ec2Api> {
  const sdk = await loadClient("@aws-sdk/client-ec2", () => import("@aws-sdk/client-ec2"));
  const client = new sdk.EC2Client(options);
  return { terminateInstances: (input) => client.send(new sdk.TerminateInstancesCommand(input)) };
}
