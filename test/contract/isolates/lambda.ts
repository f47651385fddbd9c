import { createLambdaIsolates } from "../../../functions/aws/lambda-isolates.ts";
import { userCodeHost } from "../../../infra/user-code-host.ts";
import { FakeLambda } from "../../fakes/lambda-invoke.ts";
import type { IsolatesFixture } from "./suite.ts";

export const NO_FILES = "Node's permission model denies files; it has no virtual ones as workerd";

/** Isolates of Lambda over its fake, whose functions are processes. */
export async function lambdaIsolates(): Promise<IsolatesFixture> {
  const lambda = await FakeLambda.start();
  const lines: string[] = [];
  const isolates = createLambdaIsolates({
    stack: "spotter-test",
    roleArn: "arn:aws:iam::000000000000:role/spotter-test-user-code",
    hostCode: userCodeHost(),
    loadTimeoutMs: 2_500,
    memoryMiB: 64,
    onMessage: ({ text }) => lines.push(text),
    client: {
      endpoint: lambda.endpoint,
      region: "eu-central-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
    },
  });
  return {
    isolates,
    printed: () => lines,
    async dispose() {
      await isolates.close();
      await lambda.close();
    },
  };
}
