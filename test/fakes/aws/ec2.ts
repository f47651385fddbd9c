import type * as ec2 from "@aws-sdk/client-ec2";
import { Fault } from "./fault.ts";
import { page } from "./pages.ts";
import type { Instance, Pool } from "./pool.ts";
import type { Handlers } from "./server.ts";
import type { World } from "./world.ts";

/** Terminated instances are told of for this long. */
const keptMs = 3_600_000;

const stateCodes = { pending: 0, running: 16, "shutting-down": 32, terminated: 48 };

/** EC2, as far as instances go. */
export function ec2Handlers(world: World): Handlers {
  const all = (): { instance: Instance; pool: Pool }[] =>
    [...world.pools.values()]
      .flatMap((pool) => pool.instances.map((instance) => ({ instance, pool })))
      .filter(
        ({ instance: { terminatedAtMs } }) =>
          terminatedAtMs === undefined || world.clock.now() - terminatedAtMs < keptMs,
      );

  const named = (ids: string[]): { instance: Instance; pool: Pool }[] =>
    ids.map((id) => {
      const found = all().find(({ instance }) => instance.id === id);
      if (found !== undefined) return found;
      throw new Fault("InvalidInstanceID.NotFound", `The instance ID '${id}' does not exist`);
    });

  return {
    DescribeInstances(input: ec2.DescribeInstancesRequest): ec2.DescribeInstancesResult {
      const { InstanceIds, Filters = [], MaxResults, NextToken } = input;
      const chosen = (InstanceIds === undefined ? all() : named(InstanceIds)).filter(({ instance }) =>
        Filters.every((filter) => matches(instance, filter)),
      );
      const paging = {
        maxResults: MaxResults,
        nextToken: NextToken,
        most: 1000,
        code: "InvalidParameterValue",
      };
      const { items, next } = page(chosen, paging);
      return {
        Reservations: items.map(({ instance }) => ({
          ReservationId: instance.id.replace("i-", "r-"),
          Instances: [shown(instance)],
        })),
        NextToken: next,
      };
    },
    TerminateInstances({ InstanceIds = [] }: ec2.TerminateInstancesRequest): ec2.TerminateInstancesResult {
      return {
        TerminatingInstances: named(InstanceIds).map(({ instance, pool }) => {
          const before = instance.state;
          pool.terminate(instance, "User initiated.");
          return {
            InstanceId: instance.id,
            PreviousState: stateOf(before),
            CurrentState: stateOf(instance.state),
          };
        }),
      };
    },
    CreateTags({ Resources = [], Tags = [] }: ec2.CreateTagsRequest) {
      for (const { Key = "" } of Tags) {
        if (Key.startsWith("aws:"))
          throw new Fault("InvalidParameterValue", "Tag keys may not start with aws:.");
      }
      for (const { instance } of named(Resources)) {
        for (const { Key = "", Value = "" } of Tags) instance.tags.set(Key, Value);
      }
      return {};
    },
  };
}

function matches(instance: Instance, { Name = "", Values = [] }: ec2.Filter): boolean {
  const [kind, tag = ""] = Name.split(/:(.*)/s);
  if (kind === "tag") return instance.tags.has(tag) && anyGlob(Values, instance.tags.get(tag) ?? "");
  switch (Name) {
    case "instance-state-name":
      return Values.includes(instance.state);
    case "instance-id":
      return Values.includes(instance.id);
    case "instance-type":
      return anyGlob(Values, instance.type);
    case "tag-key":
      return Values.some((each) => instance.tags.has(each));
    default:
      throw new Fault("InvalidParameterValue", `The filter '${Name}' is invalid`);
  }
}

/** An asterisk stands for any characters. */
const anyGlob = (patterns: string[], value: string): boolean =>
  patterns.some((pattern) =>
    new RegExp(`^${pattern.split("*").map(escapedPattern).join(".*")}$`).test(value),
  );

const escapedPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const stateOf = (state: Instance["state"]): ec2.InstanceState => ({ Name: state, Code: stateCodes[state] });

function shown(instance: Instance): ec2.Instance {
  return {
    InstanceId: instance.id,
    InstanceType: instance.type as ec2.Instance["InstanceType"],
    InstanceLifecycle: instance.spot ? "spot" : undefined,
    State: stateOf(instance.state),
    LaunchTime: new Date(instance.launchedAtMs),
    PrivateIpAddress: instance.state === "running" ? "127.0.0.1" : undefined,
    Placement: { AvailabilityZone: "us-east-1a" },
    Tags: [...instance.tags].map(([Key, Value]) => ({ Key, Value })),
  };
}
