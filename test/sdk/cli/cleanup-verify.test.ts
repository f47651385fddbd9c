import type * as ecs from "@aws-sdk/client-ecs";
import { describe, expect, it } from "vitest";
import { sorted } from "../../../sdk/cli/aws/leftovers.ts";
import { billingOf, kindOf, nameOf } from "../../../sdk/cli/aws/resource-kinds.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { Handlers } from "../../fakes/aws/server.ts";
import { Fault } from "../../fakes/aws/fault.ts";
import { startAwsAccount, stubAws } from "../../fakes/aws-account.ts";
import { startBuckets } from "../../fakes/buckets.ts";
import { runCli } from "./run-cli.ts";

const tags = { "spotter:stack": "dev" };
const arn = (service: string, rest: string) => `arn:aws:${service}:eu-central-1:123456789012:${rest}`;
const CLUSTER = arn("ecs", "cluster/spotter-dev");
const QUEUE = arn("batch", "job-queue/spotter-dev-cpu");
const TABLE = arn("dynamodb", "table/state-1");
const BUCKET = "arn:aws:s3:::data-1";
const LINE = ["cleanup", "--verify", "--json"];

const ofNothing: Record<string, Handlers> = {
  ec2: {
    DescribeAddresses: () => ({ Addresses: [] }),
    DescribeNatGateways: () => ({ NatGateways: [] }),
    DescribeVpcEndpoints: () => ({ VpcEndpoints: [] }),
    DescribeInstances: () => ({ Reservations: [] }),
    DescribeVolumes: () => ({ Volumes: [] }),
  },
  ecs: {
    ListTasks: () => {
      throw new Fault("ClusterNotFoundException", "Cluster not found.");
    },
  },
  batch: {
    ListJobs: () => {
      throw new Fault("ClientException", "The specified queue does not exist.");
    },
  },
  dynamodb: {
    DescribeTable: () => {
      throw new Fault("ResourceNotFoundException", "no table");
    },
  },
};

async function account(arns: string[], services: Record<string, Handlers> = {}) {
  const resources = arns.map((each) => ({ arn: each, tags }));
  const aws = await startAwsAccount({ resources, services: { ...ofNothing, ...services } });
  stubAws(aws.endpoint);
  return aws;
}

async function verified(...more: string[]) {
  const { code, out } = await runCli([...LINE, ...more]);
  return {
    code,
    ...(JSON.parse(out) as Record<"billed" | "free" | "kept", { kind: string; detail?: string }[]>),
  };
}

describe("spotter cleanup --verify", { timeout: 20_000 }, () => {
  it("proves that nothing is left, also where tags of what is gone are still listed", async () => {
    await startBuckets();
    const instance = arn("ec2", "instance/i-0a");
    const task = arn("ecs", "task/spotter-dev/0a");
    const aws = await account([CLUSTER, QUEUE, TABLE, BUCKET, instance, task], {
      ec2: {
        ...ofNothing["ec2"],
        DescribeInstances: () => ({
          Reservations: [{ Instances: [{ InstanceId: "i-0a", State: { Name: "terminated" } }] }],
        }),
      },
    });
    const told = await verified();
    expect(told).toMatchObject({ code: 0, ok: true, billed: [], kept: [], unproved: [] });
    expect(told.free.map(({ kind }) => kind)).toEqual(["batch:job-queue", "ecs:cluster"]);
    const by = aws.calls.find(({ operation }) => operation === "DescribeInstances");
    expect(by?.input["Filters"]).toEqual([{ Name: "tag:spotter:stack", Values: ["dev"] }]);
    // The distribution has no region: it is listed in us-east-1.
    const listed = aws.calls.filter(({ operation }) => operation === "GetResources");
    expect(listed.map(({ input }) => input["ResourceTypeFilters"])).toEqual([undefined, ["cloudfront"]]);
  });

  it("lists what is left and how it costs, and ends with 1", async () => {
    await startBuckets("data-1");
    const task: ecs.Task = {
      taskArn: arn("ecs", "task/spotter-dev/0b"),
      lastStatus: "RUNNING",
      startedBy: "a",
    };
    await account([CLUSTER, QUEUE, TABLE, BUCKET, arn("kinesis", "stream/x")], {
      ec2: {
        ...ofNothing["ec2"],
        DescribeInstances: () => ({
          Reservations: [
            { Instances: [{ InstanceId: "i-0b", InstanceType: "g6.xlarge", State: { Name: "running" } }] },
          ],
        }),
        DescribeVpcEndpoints: () => ({
          VpcEndpoints: ["Gateway", "Interface"].map((type) => ({
            VpcEndpointId: `vpce-${type}`,
            VpcEndpointType: type,
            State: "available",
          })),
        }),
        DescribeVolumes: () => ({ Volumes: [{ VolumeId: "vol-1", Size: 100, State: "available" }] }),
      },
      ecs: {
        ListTasks: () => ({ taskArns: [task.taskArn ?? ""] }),
        DescribeTasks: () => ({ tasks: [task] }),
      },
      dynamodb: { DescribeTable: () => ({ Table: { ItemCount: 3, TableSizeBytes: 2 ** 21 } }) },
    });
    const told = await verified();
    expect(told.code).toBe(1);
    expect(told.billed.map(({ kind, detail = "" }) => [kind, detail])).toEqual([
      ["dynamodb:table", "3 items, 2 MiB"],
      ["ec2:instance", "running, g6.xlarge"],
      ["ec2:volume", "available, 100 GiB"],
      ["ec2:vpc-endpoint", "Interface, available"],
      ["ecs:task", "RUNNING"],
      ["kinesis:stream", ""],
      ["s3:bucket", ""],
    ]);
    const text = await runCli("cleanup --verify --keep-data");
    expect(text.code).toBe(1);
    expect(text.out).toMatch(/ec2:instance +i-0b +by the hour +running, g6\.xlarge/);
    expect(text.out).toMatch(/kinesis:stream +x +unknown/);
    expect(text.out).toContain("5 resources of the stack dev in eu-central-1 can cost; 3 more cannot.");
  });

  it("lets data stay that was left on purpose", async () => {
    await startBuckets("data-1");
    await account([BUCKET]);
    const { code, out } = await runCli("cleanup --verify --keep-data");
    expect([code, out]).toEqual([0, expect.stringContaining("Its data is kept: data-1.") as string]);
    expect((await verified()).code).toBe(1);
  });

  it("proves nothing of what it could not look up", async () => {
    await startBuckets();
    const aws = await account([CLUSTER]);
    aws.failures.fail("DescribeInstances", { error: "UnauthorizedOperation", message: "no" }, { count: 9 });
    const { code, out } = await runCli("cleanup --verify");
    expect(code).toBe(1);
    expect(out).toContain("Not looked up: instances, volumes, addresses, NAT gateways and endpoints of EC2");
    expect(out).toContain("is not proved");
    stubAws(aws.endpoint, { credentials: false });
    const nobody = await runCli("cleanup --verify");
    expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining("no AWS credentials") as string]);
  });

  it("takes its own options only with --verify", async () => {
    expect((await runCli("cleanup --keep-data")).code).toBe(2);
    expect((await runCli(["cleanup", "--verify", "--stack", "a/b", "--region", "x"])).code).toBe(2);
  });
});

describe("what is left of a stack", () => {
  it("is known by its arn, and what nobody knows is taken to cost", () => {
    const kinds = [BUCKET, TABLE, arn("logs", "log-group:/a/b:*"), "arn:aws:cloudfront::1:distribution/E1"];
    expect(kinds.map(kindOf)).toEqual([
      "s3:bucket",
      "dynamodb:table",
      "logs:log-group",
      "cloudfront:distribution",
    ]);
    expect(kinds.map(nameOf)).toEqual(["data-1", "state-1", "/a/b:*", "E1"]);
    expect(kinds.map((each) => billingOf(kindOf(each)))).toEqual(["storage", "storage", "storage", "use"]);
    expect(billingOf("new:thing")).toBe("unknown");
  });

  it("stays as its tag tells where its service gives no answer", () => {
    const tagged = [{ arn: TABLE, tags }];
    const refused = {
      what: "tables",
      kinds: ["dynamodb:table"],
      answer: { error: new SpotterError("timeout", "late") },
    };
    expect(sorted(tagged, [refused], false)).toMatchObject({
      billed: [{ arn: TABLE }],
      unproved: ["tables: late"],
    });
    expect(sorted(tagged, [{ ...refused, answer: { value: [] } }], false)).toMatchObject({
      billed: [],
      unproved: [],
    });
  });
});
