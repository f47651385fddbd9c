import type { RunTaskCommandInput, Task } from "@aws-sdk/client-ecs";
import type { ContainerSpec, ContainerState } from "../ports/containers.ts";
import type { Clock } from "../ports/clock.ts";
import type { AwsApis } from "./aws-containers/apis.ts";
import { isRefusal, launchRefused } from "./aws-containers/call-errors.ts";
import { clientToken, platformName, tagsOf } from "./aws-containers/names.ts";
import { allPages, inHundreds } from "./aws-containers/pages.ts";
import type { AwsContainersParams } from "./aws-containers/params.ts";
import { servePlace } from "./aws-containers/place.ts";
import type { Platform, Started } from "./aws-containers/platform.ts";
import { notStartedReason } from "./aws-containers/reasons.ts";
import { isStopped, newerTask, taskState, viewOfTask, type TaskView } from "./ecs-containers/task-state.ts";
import { ScalingReasons } from "./ecs-containers/scaling-activities.ts";

/** Replicas: one task of ECS for each, started by itself, so that we choose which one goes. */
export class EcsContainers implements Platform<TaskView> {
  /** Where tasks are found by what started them, ECS takes no other filter: those that run is all it tells. */
  readonly findsEndedByName = false;
  readonly #params: AwsContainersParams;
  readonly #apis: AwsApis;
  readonly #scaling: ScalingReasons;

  constructor(params: AwsContainersParams, apis: AwsApis, clock: Clock) {
    this.#params = params;
    this.#apis = apis;
    this.#scaling = new ScalingReasons(() => apis.autoScaling(), clock);
  }

  async start(spec: ContainerSpec, nowMs: number): Promise<Started<TaskView>> {
    const input = runTaskInput(this.#params, spec, nowMs);
    const api = await this.#apis.ecs();
    try {
      const { tasks = [], failures = [] } = await api.runTask(input);
      const view = tasks[0] && this.#view({ ...tasks[0], tags: input.tags });
      if (view !== undefined) return { view };
      const why = failures.map(({ reason = "", detail = "" }) => [reason, detail].filter(Boolean).join(": "));
      return { waits: why.join("; ") || "RunTask started nothing" };
    } catch (error) {
      // The same client token with another job token: an earlier launch whose answer was lost did start it.
      if (error instanceof Error && error.name === "ConflictException")
        return { waits: "started by an earlier launch" };
      if (!isRefusal(error)) throw error;
      if (notStartedReason(error.message) !== undefined) return { waits: error.message };
      throw launchRefused(error, "RunTask", this.#params.cluster);
    }
  }

  async findByName(jobId: string): Promise<TaskView[]> {
    const startedBy = platformName(this.#params.stack, jobId);
    return await this.look(await this.#list({ startedBy }));
  }

  async listAll(isKnown: (id: string) => boolean): Promise<TaskView[]> {
    const lists = await Promise.all([
      this.#list({ desiredStatus: "RUNNING" }),
      // Also those that were asked to stop and have not yet; ECS tells of the stopped for an hour.
      this.#list({ desiredStatus: "STOPPED" }),
    ]);
    return await this.look(lists.flat().filter((id) => !isKnown(id)));
  }

  async #list(filter: { startedBy?: string; desiredStatus?: "RUNNING" | "STOPPED" }): Promise<string[]> {
    const api = await this.#apis.ecs();
    return await allPages(async (nextToken) => {
      const answer = await api.listTasks({ cluster: this.#params.cluster, ...filter, nextToken });
      return { items: answer.taskArns, nextToken: answer.nextToken };
    });
  }

  async look(ids: string[]): Promise<TaskView[]> {
    const api = await this.#apis.ecs();
    const { cluster } = this.#params;
    const tasks = await inHundreds(ids, async (some) => {
      const answer = await api.describeTasks({ cluster, tasks: some, include: ["TAGS"] });
      return answer.tasks ?? [];
    });
    return tasks.flatMap((task) => this.#view(task) ?? []);
  }

  async end(id: string, words: string): Promise<void> {
    const api = await this.#apis.ecs();
    try {
      await api.stopTask({ cluster: this.#params.cluster, task: id, reason: words });
    } catch (error) {
      // Gone so long that ECS has forgotten it.
      if (!(error instanceof Error) || !/not (be )?found/i.test(error.message)) throw error;
    }
  }

  logStream({ id }: TaskView): string {
    const taskId = id.slice(id.lastIndexOf("/") + 1);
    return `${this.#params.logStreamPrefix}/${this.#params.containerName}/${taskId}`;
  }

  newer(known: TaskView | undefined, seen: TaskView): TaskView {
    return newerTask(known, seen);
  }

  isOver(view: TaskView): boolean {
    return isStopped(view);
  }

  async state(view: TaskView, logTail: string[]): Promise<ContainerState> {
    if (view.lastStatus !== "PROVISIONING") return taskState(view, { logTail });
    const why = await this.#scaling.why(this.#groupsOf(view), view.createdAtMs);
    return taskState(view, { why });
  }

  #groupsOf({ capacityProvider }: TaskView): string[] {
    const targets = Object.values(this.#params.serve);
    return targets
      .filter((each) => [each.capacityProvider, each.spotCapacityProvider].includes(capacityProvider))
      .flatMap(({ autoScalingGroups = [] }) => autoScalingGroups);
  }

  #view(task: Task): TaskView | undefined {
    return viewOfTask(this.#params.stack, this.#params.containerName, task);
  }
}

/** What RunTask is asked for. The job token goes by the environment: never by a command line or a tag. */
function runTaskInput(
  params: AwsContainersParams,
  { jobId, kind, engine, environment, hardware, maxLifetimeMs }: ContainerSpec,
  nowMs: number,
): RunTaskCommandInput {
  const { taskDefinition, capacityProvider, network } = servePlace(params, { engine, hardware });
  const tags = Object.entries(tagsOf(params.stack, { jobId, kind, maxLifetimeMs }));
  const gpus = hardware?.gpu === undefined ? 0 : hardware.count;
  return {
    cluster: params.cluster,
    taskDefinition,
    count: 1,
    startedBy: platformName(params.stack, jobId),
    clientToken: clientToken(params.stack, jobId, nowMs),
    // A strategy, not a launch type: only such tasks make the provider start instances.
    capacityProviderStrategy: [{ capacityProvider, weight: 1 }],
    tags: tags.map(([key, value]) => ({ key, value })),
    overrides: {
      containerOverrides: [
        {
          name: params.containerName,
          environment: Object.entries(environment).map(([name, value]) => ({ name, value })),
          ...(gpus > 0 && { resourceRequirements: [{ type: "GPU", value: String(gpus) }] }),
        },
      ],
    },
    ...(network !== "host" && {
      networkConfiguration: {
        awsvpcConfiguration: {
          subnets: params.subnets,
          securityGroups: params.securityGroups,
          assignPublicIp: params.assignPublicIp ? "ENABLED" : "DISABLED",
        },
      },
    }),
  };
}
