import { jobKey, type JobRecord } from "../../jobs/records.ts";
import type { Clock, Log } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import type { AwsContainers } from "../aws-containers.ts";
import { awsError } from "../aws-error.ts";
import type { AwsApis, EcsApi } from "../aws-containers/apis.ts";
import { drain, ec2Instances } from "../aws-containers/instances.ts";
import { allPages, inHundreds } from "../aws-containers/pages.ts";
import { STOPPED } from "../aws-containers/reasons.ts";
import {
  decideSweep,
  type Instance,
  type Known,
  type SweepAction,
  type SweepPolicy,
  type Suspects,
} from "../sweep.ts";

export interface SweepParams {
  containers: AwsContainers;
  apis: AwsApis;
  /** ECS cluster of the stack. */
  cluster: string;
  /** Where job records are, and where is kept what looked superfluous. */
  store: Store;
  clock: Pick<Clock, "now">;
  log: Log;
  policy?: SweepPolicy;
}

/** What looked superfluous, and since when. */
interface SuspectsDocument {
  v: 1;
  since: Suspects;
}

const SUSPECTS = { partition: "sweep", sort: "suspects" };

/** One sweep, every few minutes. Resolves to what it did. */
export async function runSweep(params: SweepParams): Promise<SweepAction[]> {
  const { containers, apis, store, clock, policy } = params;
  // First what runs: whatever is in the list had its record by the time the records are read.
  const living = await containers.living();
  const instances = await instancesOf(await apis.ecs(), params.cluster);
  const known = await knownJobs(params, new Set(living.map(({ jobId }) => jobId)));
  const before = await store.get<SuspectsDocument>(SUSPECTS);
  const observed = { living, instances, brokenInstances: containers.takeBrokenInstances() };
  const { actions, suspects } = decideSweep(observed, known, before?.value.since ?? {}, clock.now(), policy);
  await store.put(SUSPECTS, { v: 1, since: suspects } satisfies SuspectsDocument);
  for (const action of actions) await carryOut(params, action);
  return actions;
}

/** What cannot be read says nothing. */
async function knownJobs({ store, log }: SweepParams, jobIds: ReadonlySet<string>): Promise<Known> {
  try {
    const known = new Map<string, "owned" | "fenced" | "missing">();
    for (const jobId of jobIds) {
      const job = (await store.get<JobRecord>(jobKey(jobId)))?.value;
      known.set(jobId, job === undefined ? "missing" : job.fenced ? "fenced" : "owned");
    }
    return known;
  } catch (error) {
    log.warn("the sweep could not read the job records", { error: String(error) });
    return undefined;
  }
}

async function instancesOf(api: EcsApi, cluster: string): Promise<Instance[]> {
  const arns = await allPages(async (nextToken) => {
    const answer = await api.listContainerInstances({ cluster, nextToken });
    return { items: answer.containerInstanceArns, nextToken: answer.nextToken };
  });
  const found = await inHundreds(arns, async (containerInstances) => {
    const answer = await api.describeContainerInstances({ cluster, containerInstances });
    return answer.containerInstances ?? [];
  });
  return found.flatMap(({ containerInstanceArn: arn, registeredAt, runningTasksCount, pendingTasksCount }) =>
    arn === undefined
      ? []
      : [
          {
            arn,
            registeredAtMs: registeredAt?.getTime() ?? 0,
            tasks: (runningTasksCount ?? 0) + (pendingTasksCount ?? 0),
          },
        ],
  );
}

async function carryOut(params: SweepParams, action: SweepAction): Promise<void> {
  const { containers, log } = params;
  log.warn("the sweep ends something", { ...action });
  try {
    if (action.type === "end") await containers.end(action, STOPPED[action.why]);
    else await endInstance(params, action.arn, action.why === "idle");
  } catch (error) {
    // The next sweep tries again; what else there is to end must not wait for it.
    log.error("the sweep could not end something", { ...action, error: String(error) });
  }
}

/** Nothing new comes onto it, and its group replaces a broken one, or is smaller by an idle one. */
async function endInstance({ apis }: SweepParams, arn: string, isFewer: boolean): Promise<void> {
  const ecs = await apis.ecs();
  await drain(ecs, arn);
  const ec2Id = (await ec2Instances(ecs, [arn])).get(arn);
  if (ec2Id === undefined) return;
  const autoScaling = await apis.autoScaling();
  try {
    await autoScaling.terminateInstance({ InstanceId: ec2Id, ShouldDecrementDesiredCapacity: isFewer });
  } catch (error) {
    const call = { what: "Ending an instance", where: arn };
    const isOfNoGroup = error instanceof Error && error.name === "ValidationError";
    // Of no group, so that nobody else will ever end it; or of a group of Batch, which is not ours to shrink.
    if (!isOfNoGroup && awsError(error, call).code !== "aws_denied") throw error;
    await (await apis.ec2()).terminateInstances({ InstanceIds: [ec2Id] });
  }
}
