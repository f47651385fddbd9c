/**
 * The services of an AWS account that the fake AWS lacks: who one is (STS), quotas, regions and offers (EC2), and
 * what bears a tag. Each answers with what a test puts in, to the SDK's own clients, on 127.0.0.1.
 *
 *   const account = await startAwsAccount({ quotas: { "L-DB2E81BA": 8 } });
 *   stubAws(account.endpoint);                           // what this process's clients then talk to
 *   account.resources.push({ arn: "arn:aws:s3:::a", tags: { "spotter:stack": "dev" } });
 *   account.failures.failNext("GetCallerIdentity", { error: "ExpiredToken" });
 *   account.calls.map(({ operation }) => operation);
 *
 * Further services are given as handlers, by the name of the service: `services: { ecs: { ListTasks: ... } }`.
 */
import * as autoScaling from "@aws-sdk/client-auto-scaling";
import * as batch from "@aws-sdk/client-batch";
import * as logs from "@aws-sdk/client-cloudwatch-logs";
import * as dynamodb from "@aws-sdk/client-dynamodb";
import * as ec2 from "@aws-sdk/client-ec2";
import * as ecs from "@aws-sdk/client-ecs";
import * as lambda from "@aws-sdk/client-lambda";
import * as tagging from "@aws-sdk/client-resource-groups-tagging-api";
import * as quotas from "@aws-sdk/client-service-quotas";
import * as ssm from "@aws-sdk/client-ssm";
import * as sts from "@aws-sdk/client-sts";
import { onTestFinished, vi } from "vitest";
import { CallFailures } from "./aws/control.ts";
import { Fault } from "./aws/fault.ts";
import { listen, type Call, type Handlers, type Service } from "./aws/server.ts";
import { refuseUnknownMembers } from "./aws/strict-clients.ts";
import { jsonProtocol } from "./aws/wire/json.ts";
import { ec2Protocol, queryProtocol } from "./aws/wire/query.ts";
import { restProtocol } from "./aws/wire/rest.ts";

export interface Tagged {
  arn: string;
  tags: Record<string, string>;
}

export interface AwsAccountOptions {
  /** By quota code. One that is absent is unknown to the account. */
  quotas?: Record<string, number>;
  /** Opt-in status by region. Default: eu-central-1 is enabled. */
  regions?: Record<string, string>;
  /** Zones that offer a type, and its processors. */
  instanceTypes?: Record<string, { vCpus: number; zones: string[] }>;
  resources?: Tagged[];
  services?: Record<string, Handlers>;
}

export interface AwsAccount {
  endpoint: string;
  calls: Call[];
  failures: CallFailures;
  /** May be changed while a test runs. */
  resources: Tagged[];
  quotas: Record<string, number>;
}

const json = { protocol: jsonProtocol, invalidCode: "ValidationException" };
const MODELS: Omit<Service, "handlers">[] = [
  { ...json, name: "tagging", models: tagging, mark: "ResourceGroupsTaggingAPI_20170126" },
  { ...json, name: "quotas", models: quotas, mark: "ServiceQuotasV20190624" },
  { ...json, name: "ecs", models: ecs, mark: "AmazonEC2ContainerServiceV20141113" },
  { ...json, name: "dynamodb", models: dynamodb, mark: "DynamoDB_20120810" },
  { ...json, name: "ssm", models: ssm, mark: "AmazonSSM" },
  { ...json, name: "logs", models: logs, mark: "Logs_20140328" },
  {
    name: "sts",
    models: sts,
    protocol: queryProtocol,
    mark: "2011-06-15",
    invalidCode: "ValidationError",
  },
  {
    name: "autoscaling",
    models: autoScaling,
    protocol: queryProtocol,
    mark: "2011-01-01",
    invalidCode: "ValidationError",
  },
  {
    name: "ec2",
    models: ec2,
    protocol: ec2Protocol,
    mark: "2016-11-15",
    invalidCode: "InvalidParameterValue",
  },
  { name: "lambda", models: lambda, protocol: restProtocol, invalidCode: "InvalidParameterValueException" },
  { name: "batch", models: batch, protocol: restProtocol, invalidCode: "ClientException" },
];

/** Ends with the test. */
export async function startAwsAccount(options: AwsAccountOptions = {}): Promise<AwsAccount> {
  const { resources = [], quotas: limits = {}, services = {} } = options;
  const own: Record<string, Handlers> = {
    sts: {
      GetCallerIdentity: () => ({ Account: "123456789012", Arn: "arn:aws:iam::123456789012:user/ada" }),
    },
    tagging: taggingHandlers(resources),
    quotas: quotaHandlers(limits),
    ec2: ec2Handlers(options),
  };
  const failures = new CallFailures();
  const calls: Call[] = [];
  const acceptUnknownMembers = refuseUnknownMembers();
  const server = await listen({
    services: MODELS.map((model) => ({
      ...model,
      handlers: { ...own[model.name], ...services[model.name] },
    })),
    failures,
    calls,
    traffic: { inFlight: 0, served: 0 },
    now: Date.now,
  });
  onTestFinished(async () => {
    acceptUnknownMembers();
    await server.close();
  });
  return { endpoint: server.endpoint, calls, failures, resources, quotas: limits };
}

/** Points the clients of this process at a fake, with credentials, or with none; asks no other machine. */
export function stubAws(endpoint: string, { credentials = true, region = "eu-central-1" } = {}): void {
  vi.stubEnv("AWS_ENDPOINT_URL", endpoint);
  vi.stubEnv("AWS_REGION", region);
  vi.stubEnv("AWS_ACCESS_KEY_ID", credentials ? "fake" : "");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", credentials ? "fake" : "");
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  vi.stubEnv("AWS_CONFIG_FILE", "/nonexistent/config");
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/credentials");
  onTestFinished(() => void vi.unstubAllEnvs());
}

function taggingHandlers(resources: Tagged[]): Handlers {
  return {
    GetResources({ TagFilters = [], ResourceTypeFilters = [], PaginationToken, ResourcesPerPage = 100 }) {
      const input = { TagFilters, ResourceTypeFilters } as tagging.GetResourcesInput;
      const all = resources.filter((each) => isAskedFor(each, input));
      const from = Number(PaginationToken ?? 0) || 0;
      const to = from + ResourcesPerPage;
      return {
        PaginationToken: to < all.length ? String(to) : "",
        ResourceTagMappingList: all.slice(from, to).map(({ arn, tags }) => ({
          ResourceARN: arn,
          Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
        })),
      };
    },
  } satisfies Handlers;
}

function isAskedFor(
  { arn, tags }: Tagged,
  { TagFilters, ResourceTypeFilters }: tagging.GetResourcesInput,
): boolean {
  const [, , service = "", , , ...rest] = arn.split(":");
  const type = `${service}:${rest.join(":").split(/[:/]/)[0]}`;
  return (
    (TagFilters ?? []).every(({ Key = "", Values = [] }) => Values.includes(tags[Key] ?? "")) &&
    ((ResourceTypeFilters ?? []).length === 0 ||
      (ResourceTypeFilters ?? []).some((each) => each === service || each === type))
  );
}

function quotaHandlers(limits: Record<string, number>): Handlers {
  return {
    GetServiceQuota({ QuotaCode = "", ServiceCode }: quotas.GetServiceQuotaRequest) {
      const value = limits[QuotaCode];
      if (value === undefined)
        throw new Fault(
          "NoSuchResourceException",
          "The request failed because the specified quota does not exist.",
        );
      return { Quota: { QuotaCode, ServiceCode, QuotaName: `name of ${QuotaCode}`, Value: value } };
    },
  } satisfies Handlers;
}

function ec2Handlers({
  regions = { "eu-central-1": "opt-in-not-required" },
  instanceTypes = {},
}: AwsAccountOptions) {
  return {
    DescribeRegions({ RegionNames }: ec2.DescribeRegionsRequest): ec2.DescribeRegionsResult {
      for (const name of RegionNames ?? [])
        if (regions[name] === undefined)
          throw new Fault("InvalidParameterValue", `Invalid region '${name}' provided.`);
      return {
        Regions: (RegionNames ?? Object.keys(regions)).map((RegionName) => ({
          RegionName,
          OptInStatus: regions[RegionName],
        })),
      };
    },
    DescribeInstanceTypes({ InstanceTypes = [] }: ec2.DescribeInstanceTypesRequest) {
      for (const name of InstanceTypes)
        if (instanceTypes[name] === undefined)
          throw new Fault(
            "InvalidInstanceType",
            `The following supplied instance types do not exist: [${name}]`,
          );
      return {
        InstanceTypes: InstanceTypes.map((InstanceType) => ({
          InstanceType,
          VCpuInfo: { DefaultVCpus: instanceTypes[InstanceType]?.vCpus },
        })),
      };
    },
    DescribeInstanceTypeOfferings({ Filters = [] }: ec2.DescribeInstanceTypeOfferingsRequest) {
      const wanted = Filters.find(({ Name }) => Name === "instance-type")?.Values ?? [];
      return {
        InstanceTypeOfferings: wanted.flatMap((InstanceType) =>
          (instanceTypes[InstanceType]?.zones ?? []).map((Location) => ({
            InstanceType,
            Location,
            LocationType: "availability-zone",
          })),
        ),
      };
    },
    DescribeInstances: (): ec2.DescribeInstancesResult => ({ Reservations: [] }),
    DescribeVpcs: (): ec2.DescribeVpcsResult => ({ Vpcs: [{ VpcId: "vpc-0", IsDefault: true }] }),
    DescribeVolumes: (): ec2.DescribeVolumesResult => ({ Volumes: [] }),
  } satisfies Handlers;
}
