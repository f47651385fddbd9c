import { SpotterError } from "../../schema/errors.ts";
import { asked } from "./aws-failure.ts";
import type { Answer } from "./checks.ts";
import { clientOptions, loadClient } from "./load-client.ts";
import { STACK_TAG } from "./tagged-resources.ts";

/** Regions whose own partition knows which regions there are; an account can always ask there. */
const HOMES: readonly [RegExp, string][] = [
  [/^cn-/, "cn-north-1"],
  [/^us-gov-/, "us-gov-west-1"],
];

/** Where what an account may do is asked: the region that is asked about may not be enabled. */
export function homeRegion(region: string | undefined): string {
  return HOMES.find(([pattern]) => pattern.test(region ?? ""))?.[1] ?? "us-east-1";
}

/** An answer, or the failure as a value: one that is missing keeps no other from being told. */
export async function answerOf<T>(ask: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await ask() };
  } catch (error) {
    return { error: SpotterError.from(error) };
  }
}

const ec2 = () => loadClient("@aws-sdk/client-ec2", () => import("@aws-sdk/client-ec2"));

/** @throws SpotterError `aws_denied` without credentials that AWS takes. */
export async function callerIdentity(region: string | undefined): Promise<{ account: string; arn: string }> {
  const sdk = await loadClient("@aws-sdk/client-sts", () => import("@aws-sdk/client-sts"));
  return asked({ what: "Asking who you are", needs: "sts:GetCallerIdentity" }, async () => {
    const client = new sdk.STSClient(clientOptions({ region: homeRegion(region) }));
    const { Account: account = "", Arn: arn = "" } = await client.send(new sdk.GetCallerIdentityCommand({}));
    return { account, arn };
  });
}

/** The region of the environment or the profile; undefined where none is set. */
export async function usualRegion(): Promise<string | undefined> {
  const sdk = await loadClient("@aws-sdk/client-sts", () => import("@aws-sdk/client-sts"));
  try {
    return await new sdk.STSClient({}).config.region();
  } catch {
    return undefined;
  }
}

/** Opt-in status of a region; undefined: AWS has no such region. */
export async function regionStatus(region: string): Promise<string | undefined> {
  const sdk = await ec2();
  return asked({ what: "Looking up the region", needs: "ec2:DescribeRegions" }, async () => {
    const client = new sdk.EC2Client(clientOptions({ region: homeRegion(region) }));
    const { Regions = [] } = await client.send(new sdk.DescribeRegionsCommand({ AllRegions: true }));
    return Regions.find(({ RegionName }) => RegionName === region)?.OptInStatus;
  });
}

/** Processors that a quota allows; undefined: the account has no such quota. */
export async function quotaOf(service: string, code: string, region: string): Promise<number | undefined> {
  const sdk = await loadClient(
    "@aws-sdk/client-service-quotas",
    () => import("@aws-sdk/client-service-quotas"),
  );
  return asked({ what: "Reading quotas", needs: "servicequotas:GetServiceQuota" }, async () => {
    const client = new sdk.ServiceQuotasClient(clientOptions({ region }));
    try {
      const { Quota } = await client.send(
        new sdk.GetServiceQuotaCommand({ ServiceCode: service, QuotaCode: code }),
      );
      return Quota?.Value;
    } catch (error) {
      if (error instanceof sdk.NoSuchResourceException) return undefined;
      throw error;
    }
  });
}

/** Networks (VPCs) of a region, and whether the stack's own is among them. */
export async function networksOf(stack: string, region: string): Promise<{ count: number; hasOwn: boolean }> {
  const sdk = await ec2();
  return asked({ what: "Counting networks", needs: "ec2:DescribeVpcs" }, async () => {
    const client = new sdk.EC2Client(clientOptions({ region }));
    const found = { count: 0, hasOwn: false };
    for await (const { Vpcs = [] } of sdk.paginateDescribeVpcs({ client }, {})) {
      found.count += Vpcs.length;
      found.hasOwn ||= Vpcs.some(({ Tags = [] }) =>
        Tags.some(({ Key, Value }) => Key === STACK_TAG && Value === stack),
      );
    }
    return found;
  });
}

/** Zones of a region that offer some of these instance types. */
export async function offersOf(
  types: readonly string[],
  region: string,
): Promise<{ type: string; zone: string }[]> {
  const sdk = await ec2();
  return asked({ what: "Reading offers", needs: "ec2:DescribeInstanceTypeOfferings" }, async () => {
    const client = new sdk.EC2Client(clientOptions({ region }));
    const pages = sdk.paginateDescribeInstanceTypeOfferings(
      { client },
      {
        LocationType: "availability-zone",
        Filters: [{ Name: "instance-type", Values: [...types] }],
      },
    );
    const found: { type: string; zone: string }[] = [];
    for await (const { InstanceTypeOfferings = [] } of pages) {
      for (const { InstanceType: type, Location: zone } of InstanceTypeOfferings)
        if (type !== undefined && zone !== undefined) found.push({ type, zone });
    }
    return found;
  });
}
