import { createHash } from "node:crypto";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { createLambdaIsolates, type LambdaIsolates } from "../../../../functions/aws/lambda-isolates.ts";
import type { LambdaIsolatesParams } from "../../../../functions/aws/lambda-isolates/params.ts";
import type { IsolateBundle } from "../../../../functions/ports/isolates.ts";
import { userCodeHost } from "../../../../infra/user-code-host.ts";
import { FakeLambda, type StoredFunction } from "../../../fakes/lambda-invoke.ts";

let host: string | undefined;

export interface OpenLambda {
  lambda: FakeLambda;
  printed: string[];
  /** Another control plane of the same stack; the params are what differs. */
  open: (params?: Partial<LambdaIsolatesParams>) => LambdaIsolates;
  /** A client of that Lambda, for what is no control plane. */
  client: () => LambdaClient;
  close: () => Promise<void>;
}

/** A Lambda and control planes that use it. */
export async function openLambda(): Promise<OpenLambda> {
  const lambda = await FakeLambda.start();
  const opened: LambdaIsolates[] = [];
  const printed: string[] = [];
  const clients: LambdaClient[] = [];
  const config = () => ({
    endpoint: lambda.endpoint,
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  return {
    lambda,
    printed,
    open(params = {}) {
      const isolates = createLambdaIsolates({
        stack: "spotter-test",
        roleArn: "arn:aws:iam::000000000000:role/spotter-test-user-code",
        hostCode: (host ??= userCodeHost()),
        memoryMiB: 64,
        patienceMs: 10_000,
        onMessage: ({ text }) => printed.push(text),
        client: config(),
        ...params,
      });
      opened.push(isolates);
      return isolates;
    },
    client() {
      const client = new LambdaClient(config());
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) client.destroy();
      await Promise.all(opened.map((each) => each.close()));
      await lambda.close();
    },
  };
}

/** A bundle with an adapter of its own: `expression` gives the value of each `row`. */
export function echo(expression = "row", secrets: Record<string, string> = {}): IsolateBundle {
  const code = Buffer.from(`export default { async fetch(request) {
    if (request.method === "GET")
      return Response.json({ exports: [{ name: "echo", kind: "reward" }], others: [], joint: true });
    const [head, text] = (await request.text()).split("\\n");
    const { exports, secrets } = JSON.parse(head);
    const results = [];
    for (const row of JSON.parse(text)) results.push({ value: await (${expression}) });
    return Response.json({ results: exports.map(() => results) });
  } };`);
  return { code, sha256: createHash("sha256").update(code).digest("hex"), secrets };
}

export function onlyFunction({ functions }: FakeLambda): StoredFunction {
  const [first, ...more] = functions.values();
  if (!first || more.length > 0) throw new Error(`${functions.size} functions`);
  return first;
}

export function callsOf({ calls }: FakeLambda, operation: string): number {
  return calls.filter((call) => call.operation === operation).length;
}
