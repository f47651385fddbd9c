import { describe, expect, it } from "vitest";
import type { Handlers } from "../../fakes/aws/server.ts";
import { startAwsAccount, stubAws, type Tagged } from "../../fakes/aws-account.ts";
import { startBuckets } from "../../fakes/buckets.ts";
import { fakePulumi, PLAN, type Outcome } from "../../fakes/pulumi.ts";
import { runCli } from "./run-cli.ts";

const tags = { "spotter:stack": "dev" };
const arn = (service: string, rest: string) => `arn:aws:${service}:eu-central-1:123456789012:${rest}`;
const CLUSTER = arn("ecs", "cluster/spotter-dev");
const QUEUE = arn("batch", "job-queue/spotter-dev-cpu");
const TASK = arn("ecs", "task/spotter-dev/0a");
const SERVED = arn("ecs", "task/spotter-dev/0b");
const JOB = arn("batch", "job/1234");
const lambda = (name: string, more = {}) => ({
  arn: arn("lambda", `function:${name}`),
  tags: { ...tags, ...more },
});

const urn = (type: string) => `urn:pulumi:dev::spotter::spotter:index:DataBucket$${type}::data`;
const URNS = [urn("aws:s3/bucket:Bucket"), urn("aws:dynamodb/table:Table")] as const;

/** A stack's state, as `pulumi stack export` writes it. */
function exported(protect: boolean): Outcome[] {
  const resources = [...URNS.map((each) => ({ urn: each, protect })), { urn: urn("aws:iam/role:Role") }];
  return [{ stdout: JSON.stringify({ version: 3, deployment: { resources } }) }];
}

interface World {
  /** What was done, in order. */
  done: string[];
  concurrency: Map<string, number>;
}

/** A stack with a task, a job, a gateway, functions and secrets; stopping works, and destroying empties the tags. */
async function prepared(
  outcomes: Record<string, Outcome[]> = {},
  plan: object = PLAN,
  { stops = true } = {},
) {
  const world: World = { done: [], concurrency: new Map([["spotter-dev-scaler", 5]]) };
  const resources: Tagged[] = [
    ...[CLUSTER, QUEUE].map((each) => ({ arn: each, tags })),
    lambda("spotter-dev-reconciler-0a1b2c3"),
    lambda("spotter-dev-scaler"),
    lambda("spotter-dev-jobs"),
    lambda("dev-isolate-77", { "spotter:kind": "isolate" }),
  ];
  const aws = await startAwsAccount({ resources, services: services(world, resources, stops) });
  stubAws(aws.endpoint);
  await startBuckets();
  const pulumi = fakePulumi({ "stack export": exported(true), ...outcomes }, { plan });
  return { aws, world, resources, ...pulumi };
}

function services(world: World, resources: Tagged[], stops: boolean): Record<string, Handlers> {
  const { done, concurrency } = world;
  const alive = new Set([TASK, SERVED, JOB]);
  const end = (what: string) => {
    done.push(`end ${what}`);
    if (stops) alive.delete(what);
  };
  return {
    ecs: {
      ListTasks: () => ({ taskArns: [TASK, SERVED].filter((each) => alive.has(each)) }),
      DescribeTasks: ({ tasks }: { tasks: string[] }) => ({
        tasks: tasks.map((taskArn) => ({
          ...{ taskArn, lastStatus: "RUNNING", startedBy: "run-1" },
          group: taskArn === SERVED ? "service:gateway" : "family:train",
        })),
      }),
      StopTask: ({ task }: { task: string }) => (end(task), {}),
    },
    batch: {
      ListJobs: ({ jobStatus }: { jobStatus: string }) => ({
        jobSummaryList:
          jobStatus === "RUNNING" && alive.has(JOB) ? [{ jobArn: JOB, jobId: "1234", jobName: "run-2" }] : [],
      }),
      TerminateJob: ({ jobId }: { jobId: string }) => (end(arn("batch", `job/${jobId}`)), {}),
    },
    lambda: {
      GetFunctionConcurrency: ({ FunctionName }: { FunctionName: string }) => ({
        ReservedConcurrentExecutions: concurrency.get(FunctionName),
      }),
      PutFunctionConcurrency: (input: { FunctionName: string; ReservedConcurrentExecutions: number }) => {
        done.push(`hold ${input.FunctionName} ${input.ReservedConcurrentExecutions}`);
        return {};
      },
      DeleteFunctionConcurrency: ({ FunctionName }: { FunctionName: string }) => (
        done.push(`free ${FunctionName}`),
        {}
      ),
      DeleteFunction: ({ FunctionName }: { FunctionName: string }) => {
        done.push(`delete ${FunctionName}`);
        // By then everything else is gone as well: the tags are asked for again only after the destruction.
        resources.splice(0);
        alive.clear();
        return {};
      },
    },
    ssm: {
      GetParametersByPath: () => ({ Parameters: [{ Name: "/dev/secrets/HF_TOKEN" }] }),
      DeleteParameters: ({ Names }: { Names: string[] }) => (done.push(`forget ${Names.join()}`), {}),
    },
    ec2: { DescribeAddresses: () => ({}), DescribeNatGateways: () => ({}), DescribeVpcEndpoints: () => ({}) },
  };
}

const line = (folder: string, ...more: string[]) => [
  "destroy",
  "--dir",
  folder,
  "--stop-within",
  "0s",
  ...more,
];
const changing = (calls: string[][]) =>
  calls
    .map((each) => each.join(" "))
    .filter((each) => !/^(version|whoami|config --json|config get|stack export)/.test(each));

describe("spotter destroy", { timeout: 20_000 }, () => {
  it("ends what runs, keeps the data, destroys the rest, and proves it", async () => {
    const { folder, calls, world } = await prepared();
    const { code, out } = await runCli(line(folder, "--yes", "--json"));
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      { ok: true, deletedData: false, billed: [], unproved: [] },
    ]);
    expect(world.done).toEqual([
      "hold spotter-dev-reconciler-0a1b2c3 0",
      "hold spotter-dev-scaler 0",
      `end ${TASK}`,
      `end ${JOB}`,
      "delete dev-isolate-77",
    ]);
    expect(changing(calls())).toEqual(["destroy --stack dev --yes --skip-preview --exclude-protected"]);
  });

  it("deletes data and secrets where it is told to, after an update that takes the guard away", async () => {
    const { folder, calls, world } = await prepared();
    const { code, out } = await runCli(line(folder, "--yes", "--delete-data"));
    expect([code, out]).toEqual([0, expect.stringContaining("Nothing of the stack dev") as string]);
    expect(changing(calls())).toEqual([
      "config set spotter:removal destroy --stack dev --plaintext",
      // Only what is guarded: a stack that was destroyed but for its data is not made again for this.
      `up --stack dev --yes --skip-preview --target ${URNS[0]} --target ${URNS[1]}`,
      "destroy --stack dev --yes --skip-preview",
    ]);
    expect(world.done.at(-1)).toBe("forget /dev/secrets/HF_TOKEN");
  });

  it("only says what it would do without a yes, and does not destroy what the settings keep", async () => {
    const { folder, calls, world } = await prepared({ "stack export": exported(false) });
    const asked = await runCli(line(folder));
    expect([asked.code, asked.err]).toEqual([
      2,
      expect.stringContaining("6 resources, and ends 2 running containers. Its bucket, its table") as string,
    ]);
    const open = await runCli(line(folder, "--yes"));
    expect([open.code, open.err]).toEqual([2, expect.stringContaining("--delete-data") as string]);
    expect([changing(calls()), world.done]).toEqual([[], []]);
  });

  it("lets the control plane go on where the destruction does not happen", async () => {
    const failed = { destroy: [{ code: 255, stderr: "error: DependencyViolation\n" }] };
    const { folder, world } = await prepared(failed);
    const broken = await runCli(line(folder, "--yes"));
    expect([broken.code, broken.err]).toEqual([1, expect.stringContaining("DependencyViolation") as string]);
    expect(world.done.slice(-2)).toEqual([
      "free spotter-dev-reconciler-0a1b2c3",
      "hold spotter-dev-scaler 5",
    ]);
  });

  it("does not destroy under what does not end", async () => {
    const { folder, calls, world } = await prepared({}, PLAN, { stops: false });
    const { code, err } = await runCli(line(folder, "--yes"));
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("2 containers have not ended: run-1 (RUNNING)") as string,
    ]);
    expect(changing(calls())).toEqual([]);
    expect(world.done.at(-1)).toBe("hold spotter-dev-scaler 5");
  });

  it("tells what is left, and ends with 1", async () => {
    const { folder, resources } = await prepared({}, { ...PLAN, removal: "destroy" });
    resources.splice(5, 1);
    const { code, out, err } = await runCli(line(folder, "--yes", "--verify-within", "0s"));
    expect(code).toBe(1);
    expect(out).toMatch(/lambda:function +spotter-dev-jobs +by use/);
    expect(err).toContain("spotter cleanup --verify --stack dev --region eu-central-1");
  });
});
