import { openPorts } from "../../../functions/aws/aws-deps/open.ts";
import { store } from "../../../functions/aws/aws-deps/store.ts";
import { startGateway } from "../../../functions/gateway/serve.ts";
import { startFakeAws, type FakeAws } from "../../fakes/aws/index.ts";
import { startDynamo } from "../../fakes/dynamo.ts";
import { FakeLambda } from "../../fakes/lambda-invoke.ts";
import { fakeS3 } from "../../fakes/s3.ts";
import { startFrontDoor } from "./front-door.ts";
import { ended, startFunctions, TIMES, type Functions } from "./functions.ts";
import { containerPlaces, resources, STACK } from "./resources.ts";

const ORIGIN_SECRET = "the front door's own secret, 32 or more";

/** A stack on the fake AWS: functions, a gateway and a front door of ours, and real engines as containers. */
export interface AwsStack {
  aws: FakeAws;
  url: string;
  key: string;
  functions: Functions;
  /** Logs of functions and gateway. */
  lines: string[];
  close(): Promise<void>;
}

/** @param what What `pulumi up` makes for containers. Default: what the embedded engine needs. */
export async function startStack(what = { resources, containerPlaces }): Promise<AwsStack> {
  const before = { ...process.env };
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const [dynamo, s3, lambda] = await Promise.all([startDynamo(), fakeS3(), FakeLambda.start()]);
  const heard: { functions?: Functions } = {};
  const aws = await startFakeAws({ ...what.resources, onEvent: (event) => heard.functions?.heard(event) });
  const door = await startFrontDoor(ORIGIN_SECRET);
  const url = `http://127.0.0.1:${door.port}`;
  // Where the SDK's clients look by themselves.
  Object.assign(process.env, {
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "fake",
    AWS_SECRET_ACCESS_KEY: "fake",
    AWS_ENDPOINT_URL: aws.endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: dynamo.endpoint,
    AWS_ENDPOINT_URL_S3: s3.endpoint,
  });
  const environment = {
    SPOTTER_VERSION: "0.0.0-test",
    SPOTTER_STACK: STACK,
    SPOTTER_URL: url,
    SPOTTER_TABLE: await dynamo.createTable(),
    SPOTTER_BUCKET: s3.bucket,
    SPOTTER_CONTAINERS: what.containerPlaces,
  };
  const functions = await startFunctions(environment, lambda.endpoint, write);
  heard.functions = functions;
  const opened = openPorts({ store }, { environment, write });
  const gateway = await startGateway(
    {
      ...opened,
      shared: { ...opened.shared, wake: () => functions.plane.reconciler.wake() },
      config: { ...opened.config, ...TIMES },
    },
    {
      port: 0,
      host: "127.0.0.1",
      originSecret: ORIGIN_SECRET,
      // No load balancer sends it anything more once a test closes it.
      drainTimes: { acceptMs: 0, finishMs: 10_000 },
    },
  );
  Object.assign(door.behind, { gateway: gateway.port, functions: functions.port });
  return {
    aws,
    url,
    key: functions.key,
    functions,
    lines,
    async close() {
      await gateway.close();
      await functions.close();
      await ended(door.server);
      await opened.store.close();
      await Promise.all([aws.close(), dynamo.stop(), s3.close(), lambda.close()]);
      process.env = before;
    },
  };
}
