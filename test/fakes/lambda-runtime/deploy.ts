import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ORIGIN_HEADER } from "../../../functions/gateway/front-door.ts";
import { newKey } from "../../../functions/keys/key-ring.ts";
import type { KeyDocument } from "../../../functions/keys/key-ring.ts";
import { DynamoStore } from "../../../functions/aws/dynamo-store.ts";
import { bundle, type Bundle } from "../../../infra/bundle.ts";
import { startFakeAws, type FakeAws, type FakeAwsOptions } from "../aws/index.ts";
import { FAKE_AWS, startDynamo } from "../dynamo.ts";
import { fakeS3 } from "../s3.ts";
import { startFunction, type FakeFunction, type FunctionParams } from "./function.ts";

/** Every function that `pulumi up` may make of the control plane. */
export const FUNCTIONS = [
  "chat",
  "datasets",
  "endpoints",
  "evals",
  "events",
  "jobs",
  "key-bootstrap",
  "keys",
  "pages",
  "reconciler",
  "runs",
  "scaler",
  "secrets",
  "user-code",
] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

export const PUBLIC_URL = "https://d111111abcdef8.cloudfront.net";

export interface Deployment {
  aws: FakeAws;
  store: DynamoStore;
  /** Variables of the functions. */
  environment: Record<string, string>;
  /** What the front door and an admin send. */
  headers: { [ORIGIN_HEADER]: string; authorization: string };
  /** A function of the stack, started when it is first asked for. */
  get(name: FunctionName): Promise<FakeFunction>;
  /** Asks a function as the front door does: as the admin, with another token, or with none (null). */
  call(
    name: FunctionName,
    method: string,
    path: string,
    body?: unknown,
    token?: string | null,
  ): Promise<Response>;
  close(): Promise<void>;
}

const REPLICA = {
  family: "spotter-test-serve",
  requiresCompatibilities: ["FARGATE" as const],
  networkMode: "awsvpc" as const,
  cpu: "2048",
  memory: "8192",
  containerDefinitions: [{ name: "spotter", essential: true, image: "node:24" }],
};

const bundles = new Map<FunctionName, Promise<Bundle>>();

/** The files of a function, made once. */
export function bundleOf(name: FunctionName): Promise<Bundle> {
  let made = bundles.get(name);
  if (made === undefined) {
    made = bundle(new URL(`../../../functions/lambda/${name}.ts`, import.meta.url));
    bundles.set(name, made);
  }
  return made;
}

export function writeFiles(folder: string, files: Bundle): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** The functions of a stack as they are deployed, on a table, a bucket and services that are fakes. */
export async function deploy(
  params: Pick<FunctionParams, "maxConcurrency" | "timeoutMs"> & { aws?: FakeAwsOptions } = {},
): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), "spotter-deployed-"));
  const running = new Map<FunctionName, Promise<FakeFunction>>();
  const [dynamo, s3] = await Promise.all([startDynamo(), fakeS3()]);
  const aws = await startFakeAws({
    auto: true,
    taskDefinitions: [REPLICA],
    ...params.aws,
    functions: {
      reconciler: async (event) => (await get("reconciler")).invoke(event),
      scaler: async (event) => (await get("scaler")).invoke(event),
      "key-bootstrap": async (event) => (await get("key-bootstrap")).invoke(event),
    },
  });
  const table = await dynamo.createTable();
  const store = new DynamoStore({ table, client: dynamo.client(FAKE_AWS) });
  const admin = newKey("admin-of-this-test");
  const record = { v: 1 as const, id: admin.id, name: "admin", scope: "admin" as const, createdAtMs: 0 };
  const document: KeyDocument = { v: 1, hash: admin.hash, record };
  await store.put({ partition: "keys", sort: admin.id }, document);
  const secret = "a secret of 32 letters or more, for tests";
  const headers = { [ORIGIN_HEADER]: secret, authorization: `Bearer ${admin.key}` } as const;
  const environment = {
    AWS_ENDPOINT_URL: aws.endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: dynamo.endpoint,
    AWS_ENDPOINT_URL_S3: s3.endpoint,
    SPOTTER_VERSION: "1.2.3",
    SPOTTER_STACK: "spotter-test",
    SPOTTER_URL: PUBLIC_URL,
    SPOTTER_TABLE: table,
    SPOTTER_BUCKET: s3.bucket,
    SPOTTER_ORIGIN_SECRET: secret,
    SPOTTER_RECONCILER_FUNCTION: "reconciler",
    SPOTTER_SCALER_FUNCTION: "scaler",
    SPOTTER_ISOLATE_ROLE_ARN: "arn:aws:iam::123456789012:role/spotter-test-user-code",
    SPOTTER_CONTAINERS: JSON.stringify({
      cluster: "default",
      subnets: ["subnet-0123456789abcdef0"],
      securityGroups: [],
      logGroup: "/spotter-test/containers",
      serve: { cpu: { taskDefinition: REPLICA.family, capacityProvider: "FARGATE" } },
      work: {},
    }),
  };

  async function start(name: FunctionName): Promise<FakeFunction> {
    const own = join(folder, name);
    writeFiles(own, await bundleOf(name));
    return startFunction({ folder: own, environment, ...params });
  }

  function get(name: FunctionName): Promise<FakeFunction> {
    const started = running.get(name) ?? start(name);
    running.set(name, started);
    return started;
  }

  return {
    aws,
    store,
    environment,
    headers,
    get,
    async call(name, method, path, body, token = admin.key) {
      const { url } = await get(name);
      return fetch(`${url}${path}`, {
        method,
        headers: {
          [ORIGIN_HEADER]: secret,
          "content-type": "application/json",
          ...(token !== null && { authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
    },
    async close() {
      for (const started of await Promise.allSettled(running.values()))
        if (started.status === "fulfilled") await started.value.close();
      await aws.close();
      await store.close();
      await Promise.all([dynamo.stop(), s3.close()]);
      rmSync(folder, { recursive: true });
    },
  };
}
