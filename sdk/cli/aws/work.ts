import { asked } from "./aws-failure.ts";
import { clientOptions, loadClient } from "./load-client.ts";

/** A task of ECS or a job of Batch that has not ended. */
export interface Work {
  arn: string;
  /** Cluster or queue. */
  place: string;
  status: string;
  /** For people: whose it is. */
  name: string;
  /** Belongs to a service, which would start it again. */
  isOfService?: boolean;
}

/** A job before its end. */
const LIVING = ["SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING"] as const;
const HUNDRED = 100;

const ecs = () => loadClient("@aws-sdk/client-ecs", () => import("@aws-sdk/client-ecs"));
const batch = () => loadClient("@aws-sdk/client-batch", () => import("@aws-sdk/client-batch"));

/** Tasks of these clusters that run or are about to; a cluster that is gone has none. */
export async function livingTasks(clusters: readonly string[], region: string): Promise<Work[]> {
  if (clusters.length === 0) return [];
  const sdk = await ecs();
  const client = new sdk.ECSClient(clientOptions({ region }));
  return asked({ what: "Listing tasks", needs: "ecs:ListTasks and ecs:DescribeTasks" }, async () => {
    const found: Work[] = [];
    for (const cluster of clusters) {
      try {
        for await (const { taskArns = [] } of sdk.paginateListTasks(
          { client, pageSize: HUNDRED },
          { cluster },
        )) {
          if (taskArns.length === 0) continue;
          const { tasks = [] } = await client.send(
            new sdk.DescribeTasksCommand({ cluster, tasks: taskArns }),
          );
          for (const { taskArn: arn = "", lastStatus: status = "", group = "", startedBy = "" } of tasks) {
            if (status === "STOPPED") continue;
            const isOfService = group.startsWith("service:");
            found.push({ arn, place: cluster, status, name: isOfService ? group : startedBy, isOfService });
          }
        }
      } catch (error) {
        if (!(error instanceof sdk.ClusterNotFoundException)) throw error;
      }
    }
    return found;
  });
}

/** Jobs of these queues that have not ended. */
export async function livingJobs(queues: readonly string[], region: string): Promise<Work[]> {
  if (queues.length === 0) return [];
  const sdk = await batch();
  const client = new sdk.BatchClient(clientOptions({ region }));
  return asked({ what: "Listing jobs", needs: "batch:ListJobs" }, async () => {
    const found: Work[] = [];
    for (const jobQueue of queues) {
      for (const jobStatus of LIVING) {
        try {
          const pages = sdk.paginateListJobs({ client, pageSize: HUNDRED }, { jobQueue, jobStatus });
          for await (const { jobSummaryList = [] } of pages) {
            for (const { jobArn: arn = "", jobName: name = "" } of jobSummaryList)
              found.push({ arn, place: jobQueue, status: jobStatus, name });
          }
        } catch (error) {
          // What Batch says of a queue that is gone.
          if (!(error instanceof Error) || !/does not exist/i.test(error.message)) throw error;
        }
      }
    }
    return found;
  });
}

/** Asks them to end, in good order: they save what they have. */
export async function stopWork(work: readonly Work[], region: string, reason: string): Promise<void> {
  const tasks = work.filter(({ arn }) => arn.includes(":task/"));
  const jobs = work.filter(({ arn }) => arn.includes(":job/"));
  if (tasks.length > 0) {
    const sdk = await ecs();
    const client = new sdk.ECSClient(clientOptions({ region }));
    await asked({ what: "Stopping tasks", needs: "ecs:StopTask" }, async () => {
      for (const { arn, place } of tasks)
        await client.send(new sdk.StopTaskCommand({ cluster: place, task: arn, reason }));
    });
  }
  if (jobs.length > 0) {
    const sdk = await batch();
    const client = new sdk.BatchClient(clientOptions({ region }));
    await asked({ what: "Ending jobs", needs: "batch:TerminateJob" }, async () => {
      for (const { arn } of jobs)
        await client.send(new sdk.TerminateJobCommand({ jobId: arn.split("/").at(-1) ?? arn, reason }));
    });
  }
}
