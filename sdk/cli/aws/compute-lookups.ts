import { asked } from "./aws-failure.ts";
import type { Found, Lookup } from "./leftovers.ts";
import { clientOptions, loadClient } from "./load-client.ts";
import { kindOf } from "./resource-kinds.ts";
import { STACK_TAG, type TaggedResource } from "./tagged-resources.ts";
import { livingJobs, livingTasks } from "./work.ts";

/** What runs, and what belongs to it: instances, their disks and addresses, tasks, jobs. */
export function computeLookups(stack: string, region: string, tagged: readonly TaggedResource[]): Lookup[] {
  const of = (kind: string) => tagged.map(({ arn }) => arn).filter((arn) => kindOf(arn) === kind);
  return [
    {
      what: "instances, volumes, addresses, NAT gateways and endpoints of EC2",
      kinds: ["ec2:instance", "ec2:volume", "ec2:elastic-ip", "ec2:natgateway", "ec2:vpc-endpoint"],
      ask: () => ofEc2(stack, region, arnPrefix(region, tagged)),
    },
    {
      what: "tasks of ECS",
      kinds: ["ecs:task"],
      ask: async () => {
        const tasks = await livingTasks(of("ecs:cluster"), region);
        return tasks.map(({ arn, status }) => ({ arn, detail: status }));
      },
    },
    {
      what: "jobs of Batch",
      kinds: ["batch:job"],
      ask: async () => {
        const jobs = await livingJobs(of("batch:job-queue"), region);
        return jobs.map(({ arn, status }) => ({ arn, detail: status }));
      },
    },
    { what: "services of ECS", kinds: ["ecs:service"], ask: () => services(of("ecs:service"), region) },
  ];
}

/** EC2 tells ids, everybody else ARNs. */
function arnPrefix(region: string, tagged: readonly TaggedResource[]): string {
  const account = tagged.map(({ arn }) => arn.split(":")[4] ?? "").find((each) => each !== "") ?? "";
  const partition = tagged[0]?.arn.split(":")[1] ?? "aws";
  return `arn:${partition}:ec2:${region}:${account}`;
}

async function ofEc2(stack: string, region: string, prefix: string): Promise<Found[]> {
  const sdk = await loadClient("@aws-sdk/client-ec2", () => import("@aws-sdk/client-ec2"));
  const client = new sdk.EC2Client(clientOptions({ region }));
  const Filters = [{ Name: `tag:${STACK_TAG}`, Values: [stack] }];
  const needs =
    "ec2:DescribeInstances, DescribeVolumes, DescribeAddresses, DescribeNatGateways and DescribeVpcEndpoints";
  return asked({ what: "Looking for instances", needs }, async () => {
    const found: Found[] = [];
    const add = (type: string, id: string | undefined, detail: string) =>
      found.push({ arn: `${prefix}:${type}/${id ?? "?"}`, detail });
    for await (const { Reservations = [] } of sdk.paginateDescribeInstances({ client }, { Filters })) {
      for (const { InstanceId, InstanceType, State } of Reservations.flatMap(
        ({ Instances = [] }) => Instances,
      ))
        if (State?.Name !== "terminated") add("instance", InstanceId, `${State?.Name}, ${InstanceType}`);
    }
    for await (const { Volumes = [] } of sdk.paginateDescribeVolumes({ client }, { Filters })) {
      for (const { VolumeId, Size, State } of Volumes) add("volume", VolumeId, `${State}, ${Size} GiB`);
    }
    const { Addresses = [] } = await client.send(new sdk.DescribeAddressesCommand({ Filters }));
    for (const { AllocationId, PublicIp } of Addresses) add("elastic-ip", AllocationId, PublicIp ?? "");
    const gateways = sdk.paginateDescribeNatGateways({ client }, { Filter: Filters });
    for await (const { NatGateways = [] } of gateways) {
      for (const { NatGatewayId, State } of NatGateways)
        if (State !== "deleted") add("natgateway", NatGatewayId, State ?? "");
    }
    for await (const { VpcEndpoints = [] } of sdk.paginateDescribeVpcEndpoints({ client }, { Filters })) {
      for (const { VpcEndpointId = "?", VpcEndpointType: type, State } of VpcEndpoints) {
        if (/^deleted$/i.test(State ?? "")) continue;
        const billing = type === "Gateway" ? "nothing" : "hours";
        found.push({ arn: `${prefix}:vpc-endpoint/${VpcEndpointId}`, billing, detail: `${type}, ${State}` });
      }
    }
    return found;
  });
}

/** A service is listed as INACTIVE for a while after it was deleted. */
async function services(arns: readonly string[], region: string): Promise<Found[]> {
  if (arns.length === 0) return [];
  const sdk = await loadClient("@aws-sdk/client-ecs", () => import("@aws-sdk/client-ecs"));
  const client = new sdk.ECSClient(clientOptions({ region }));
  return asked({ what: "Looking for services", needs: "ecs:DescribeServices" }, async () => {
    const found: Found[] = [];
    for (const arn of arns) {
      const cluster = arn.split("/").at(-2) ?? "default";
      try {
        const answer = await client.send(new sdk.DescribeServicesCommand({ cluster, services: [arn] }));
        for (const { status, runningCount } of answer.services ?? [])
          if (status !== "INACTIVE") found.push({ arn, detail: `${status}, ${runningCount} running` });
      } catch (error) {
        if (!(error instanceof sdk.ClusterNotFoundException)) throw error;
      }
    }
    return found;
  });
}
