import type * as asg from "@aws-sdk/client-auto-scaling";
import { Fault } from "./fault.ts";
import { page } from "./pages.ts";
import type { Activity, Instance, Pool } from "./pool.ts";
import type { Handlers } from "./server.ts";
import type { World } from "./world.ts";

const validation = (message: string): Fault => new Fault("ValidationError", message);

/** Auto Scaling: every pool is a group. */
export function autoScalingHandlers(world: World): Handlers {
  const group = (name: string | undefined): Pool => {
    const pool = world.pools.get(name ?? "");
    if (pool === undefined) throw validation("AutoScalingGroup name not found - null");
    return pool;
  };
  return {
    DescribeAutoScalingGroups(input: asg.AutoScalingGroupNamesType): asg.AutoScalingGroupsType {
      const { AutoScalingGroupNames: names, MaxRecords, NextToken, Filters = [] } = input;
      const chosen = [...world.pools.values()]
        .filter(({ settings }) => names === undefined || names.length === 0 || names.includes(settings.name))
        .filter((pool) => Filters.every((each) => matches(pool, each)));
      const { items, next } = paged(chosen, MaxRecords, NextToken);
      return { AutoScalingGroups: items.map(shown), NextToken: next };
    },
    SetDesiredCapacity({ AutoScalingGroupName, DesiredCapacity = 0 }: asg.SetDesiredCapacityType) {
      const pool = group(AutoScalingGroupName);
      const { minSize = 0, maxSize } = pool.settings;
      if (DesiredCapacity < minSize || DesiredCapacity > maxSize) {
        throw validation(
          `New SetDesiredCapacity value ${DesiredCapacity} is not between ${minSize} and ${maxSize}.`,
        );
      }
      pool.setDesired(DesiredCapacity);
      return {};
    },
    TerminateInstanceInAutoScalingGroup(
      input: asg.TerminateInstanceInAutoScalingGroupType,
    ): asg.ActivityType {
      const { InstanceId, ShouldDecrementDesiredCapacity = false } = input;
      for (const pool of world.pools.values()) {
        const instance = pool.alive.find(({ id }) => id === InstanceId);
        if (instance === undefined) continue;
        if (ShouldDecrementDesiredCapacity) pool.desired = Math.max(0, pool.desired - 1);
        pool.terminate(instance, "User initiated.");
        pool.reachSoon();
        return { Activity: activityOf(pool, pool.activities[0]) };
      }
      throw validation(
        `Instance Id not found - No managed instance found for instance ID: ${InstanceId ?? ""}`,
      );
    },
    DescribeScalingActivities(input: asg.DescribeScalingActivitiesType): asg.ActivitiesType {
      const { AutoScalingGroupName, MaxRecords, NextToken } = input;
      const pools =
        AutoScalingGroupName === undefined ? [...world.pools.values()] : [group(AutoScalingGroupName)];
      const all = pools.flatMap((pool) => pool.activities.flatMap((each) => activityOf(pool, each) ?? []));
      const { items, next } = paged(all, MaxRecords, NextToken);
      return { Activities: items, NextToken: next };
    },
  };
}

const paged = <T>(all: T[], maxResults: number | undefined, nextToken: string | undefined) =>
  page(all, { maxResults, nextToken, most: 100, code: "ValidationError" });

function matches({ settings: { tags = {} } }: Pool, { Name = "", Values = [] }: asg.Filter): boolean {
  if (Name === "tag-key") return Values.some((each) => each in tags);
  const [kind, key = ""] = Name.split(/:(.*)/s);
  if (kind !== "tag") throw validation(`Invalid filter name ${Name}`);
  return Values.includes(tags[key] ?? "");
}

function activityOf(pool: Pool, activity: Activity | undefined): asg.Activity | undefined {
  if (activity === undefined) return undefined;
  return {
    ActivityId: activity.id,
    AutoScalingGroupName: pool.settings.name,
    Cause: "An instance was started or ended to meet the desired capacity.",
    Description: activity.description,
    StartTime: new Date(activity.atMs),
    EndTime: new Date(activity.atMs),
    StatusCode: activity.status,
    StatusMessage: activity.message,
    Progress: 100,
  };
}

function shown(pool: Pool): asg.AutoScalingGroup {
  const { name, minSize = 0, maxSize, tags = {} } = pool.settings;
  return {
    AutoScalingGroupName: name,
    AutoScalingGroupARN: pool.arn,
    MinSize: minSize,
    MaxSize: maxSize,
    DesiredCapacity: pool.desired,
    DefaultCooldown: 300,
    AvailabilityZones: ["us-east-1a"],
    HealthCheckType: "EC2",
    CreatedTime: new Date(0),
    Instances: pool.alive.map(member),
    Tags: Object.entries(tags).map(([Key, Value]) => ({
      Key,
      Value,
      ResourceId: name,
      PropagateAtLaunch: true,
    })),
  };
}

const member = (instance: Instance): asg.Instance => ({
  InstanceId: instance.id,
  InstanceType: instance.type,
  AvailabilityZone: "us-east-1a",
  LifecycleState: instance.state === "running" ? "InService" : "Pending",
  HealthStatus: "Healthy",
  ProtectedFromScaleIn: instance.leases.size > 0,
});
