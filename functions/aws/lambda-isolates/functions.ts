import type { FunctionConfiguration, LambdaClient } from "@aws-sdk/client-lambda";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import {
  HOST_FILE,
  SETTINGS_FILE,
  USER_CODE_FILE,
  type HostSettings,
} from "../../isolate-host/invocation.ts";
import type { StartParams } from "../../isolate-host/isolate.ts";
import { awsError, awsErrorName } from "../aws-error.ts";
import { isForNow, patiently } from "./backoff.ts";
import { ARCHITECTURE, type LambdaContext } from "./params.ts";
import { dayOf, USED_TAG } from "./used.ts";
import { zipOf } from "./zip.ts";

const RUNTIME = "nodejs24.x";
/** The host, Node twice, and what a processor's share costs: Lambda gives processors by memory. */
const HOST_MIB = 320;
const MIN_FUNCTION_MIB = 1_024;
/** Lambda sees a new role some seconds after it was made. */
const ROLE_IS_NEW = /cannot be assumed by Lambda/;

/** Makes the function if it is not there and waits until it can be invoked. */
export async function ensureFunction(
  name: string,
  { code, bundle }: Pick<StartParams, "code" | "bundle">,
  context: LambdaContext,
): Promise<void> {
  const { patienceMs, now } = context;
  const client = await context.client();
  const call = {
    what: `Making ready the function ${name}`,
    where: name,
    needs: "lambda:GetFunction, lambda:CreateFunction, lambda:TagResource and iam:PassRole",
  };
  try {
    const known = await patiently(() => find(client, name), { patienceMs, now });
    if (known) await patiently(() => touch(client, known, context), { patienceMs, now });
    else await create(client, name, { code, bundle }, context);
    await patiently(() => active(client, name), {
      patienceMs,
      now,
      isLater: (error) => error instanceof NotReady || isForNow(error),
    });
  } catch (error) {
    if (error instanceof NotReady) throw notReady(name, error, patienceMs);
    throw awsError(error, call);
  }
}

type Known = { arn: string; tags: Record<string, string> };

async function find(client: LambdaClient, name: string): Promise<Known | undefined> {
  const { GetFunctionCommand } = await import("@aws-sdk/client-lambda");
  try {
    const { Configuration, Tags = {} } = await client.send(new GetFunctionCommand({ FunctionName: name }));
    return { arn: Configuration?.FunctionArn ?? name, tags: Tags };
  } catch (error) {
    if (awsErrorName(error) === "ResourceNotFoundException") return undefined;
    throw error;
  }
}

/** Says once a day that it is still in use, so that it is not swept away. */
async function touch(client: LambdaClient, { arn, tags }: Known, { now }: LambdaContext): Promise<void> {
  const today = dayOf(now());
  if (tags[USED_TAG] === today) return;
  const { TagResourceCommand } = await import("@aws-sdk/client-lambda");
  await client.send(new TagResourceCommand({ Resource: arn, Tags: { [USED_TAG]: today } }));
}

async function create(
  client: LambdaClient,
  name: string,
  { code, bundle }: Pick<StartParams, "code" | "bundle">,
  { params, memoryMiB, functionTimeoutS, patienceMs, now }: LambdaContext,
): Promise<void> {
  const { CreateFunctionCommand } = await import("@aws-sdk/client-lambda");
  const { stack, roleArn, hostCode, network, architecture = ARCHITECTURE } = params;
  const settings: HostSettings = { memoryMiB, allowHosts: bundle.allowHosts ?? [] };
  const command = new CreateFunctionCommand({
    FunctionName: name,
    Description: `User code ${bundle.sha256.slice(0, 12)} of ${stack}`,
    Runtime: RUNTIME,
    Handler: "index.handler",
    Role: roleArn,
    Architectures: [architecture],
    MemorySize: Math.max(MIN_FUNCTION_MIB, 2 * memoryMiB + HOST_MIB),
    Timeout: functionTimeoutS,
    Code: {
      ZipFile: zipOf({
        [HOST_FILE]: hostCode,
        [SETTINGS_FILE]: JSON.stringify(settings),
        [USER_CODE_FILE]: code,
      }),
    },
    ...(network && {
      VpcConfig: { SubnetIds: network.subnetIds, SecurityGroupIds: network.securityGroupIds },
    }),
    Tags: { "spotter:stack": stack, "spotter:kind": "isolate", [USED_TAG]: dayOf(now()) },
  });
  try {
    await patiently(() => client.send(command), {
      patienceMs,
      now,
      isLater: (error) =>
        awsErrorName(error) !== "ResourceConflictException" &&
        (isForNow(error) || (error instanceof Error && ROLE_IS_NEW.test(error.message))),
    });
  } catch (error) {
    // Another control plane was quicker; its function is the same by its name.
    if (awsErrorName(error) !== "ResourceConflictException") throw refined(error, name);
  }
}

function refined(error: unknown, name: string): unknown {
  switch (awsErrorName(error)) {
    case "CodeStorageExceededException":
      return new SpotterError("capacity", "The account's storage for Lambda code is full.", {
        where: name,
        hint: "Delete functions that are not used any more, or ask AWS for more (75 GB by default).",
        cause: error,
      });
    case "RequestTooLargeException":
    case "RequestEntityTooLargeException":
      return new SpotterError("payload_too_large", "The bundle is larger than Lambda takes (50 MB zipped).", {
        where: name,
        hint: "Import less: read large tables at evaluation time from the row, or shorten them.",
        cause: error,
      });
    default:
      return error;
  }
}

/** Being made, or asleep after two weeks without use. */
class NotReady extends Error {}

async function active(client: LambdaClient, name: string): Promise<void> {
  const { GetFunctionConfigurationCommand } = await import("@aws-sdk/client-lambda");
  const found = await client.send(new GetFunctionConfigurationCommand({ FunctionName: name }));
  const state: FunctionConfiguration["State"] = found.State;
  const why = found.StateReason ?? found.StateReasonCode ?? "no reason given";
  // An invocation is what wakes an inactive one; it is refused, and repeated until it is awake.
  if (state === "Active" || state === undefined || state === "Inactive") return;
  if (state === "Pending") throw new NotReady(why);
  // It would stay like this for ever; the next load makes another.
  const { DeleteFunctionCommand } = await import("@aws-sdk/client-lambda");
  await client.send(new DeleteFunctionCommand({ FunctionName: name }));
  throw new SpotterError("isolate_crashed", `Lambda could not make the function ${name}: ${why}`, {
    where: name,
    hint: "Check the subnets, the security groups and the role of the functions for user code.",
  });
}

function notReady(name: string, cause: Error, patienceMs: number): SpotterError {
  return new SpotterError("capacity", `The function ${name} was not ready within ${patienceMs} ms.`, {
    where: name,
    hint: `Lambda says: ${cause.message}. Try again in a minute.`,
    cause,
  });
}
