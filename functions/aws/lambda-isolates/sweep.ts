import type { FunctionConfiguration, LambdaClient } from "@aws-sdk/client-lambda";
import { awsError, awsErrorName } from "../aws-error.ts";
import { patiently } from "./backoff.ts";
import { namePrefix } from "./function-name.ts";
import { isUnused } from "./used.ts";

export interface SweepUnusedParams {
  client: LambdaClient;
  stack: string;
  now: () => number;
  /** Functions that were not loaded on any of the last `days` days go. Default 14. */
  days?: number;
  /** Where the sweep before left off. Default: from the beginning. */
  marker?: string | undefined;
  /** Pages of fifty functions, of all that the account has. Default 4. */
  pages?: number;
  /** How long to repeat what is throttled. Default 5 s: the next sweep goes on. */
  patienceMs?: number;
  /** After this long no further page is begun. Default 20 s. */
  longestMs?: number;
}

export interface Swept {
  /** Names of the functions that were deleted. */
  deleted: string[];
  /** Those that could not be judged or deleted, and why: the next round comes to them again. */
  failed: { name: string; error: string }[];
  /** Where the next sweep goes on; absent: everything was looked at. */
  marker?: string;
}

/**
 * Deletes functions of this stack that no control plane has loaded for some days, as far as a bounded number of
 * calls gets. One that is called all the same is made anew by that call.
 */
export async function sweepUnused(params: SweepUnusedParams): Promise<Swept> {
  const { stack, now, pages = 4, longestMs = 20_000 } = params;
  const endMs = now() + longestMs;
  const swept: Swept = { deleted: [], failed: [] };
  let { marker } = params;
  try {
    for (let page = 0; page < pages; page++) {
      const { Functions = [], NextMarker } = await list(params, marker);
      for (const each of Functions)
        if (each.FunctionName?.startsWith(namePrefix(stack))) await judge(params, each, swept);
      marker = NextMarker || undefined;
      if (marker === undefined) return swept;
      if (now() >= endMs) break;
    }
    return { ...swept, ...(marker !== undefined && { marker }) };
  } catch (error) {
    throw awsError(error, {
      what: "Sweeping unused functions of user code",
      where: namePrefix(stack),
      needs: "lambda:ListFunctions, lambda:ListTags and lambda:DeleteFunction",
    });
  }
}

async function list({ client, ...params }: SweepUnusedParams, marker: string | undefined) {
  const { ListFunctionsCommand } = await import("@aws-sdk/client-lambda");
  const ask = (from: string | undefined) =>
    patient(params, () => client.send(new ListFunctionsCommand(from === undefined ? {} : { Marker: from })));
  try {
    return await ask(marker);
  } catch (error) {
    // Nobody says how long a marker is good for.
    if (marker === undefined || awsErrorName(error) !== "InvalidParameterValueException") throw error;
    return await ask(undefined);
  }
}

async function judge(
  { client, stack, days = 14, ...params }: SweepUnusedParams,
  { FunctionName: name = "", FunctionArn: arn }: FunctionConfiguration,
  { deleted, failed }: Swept,
): Promise<void> {
  const { DeleteFunctionCommand, ListTagsCommand } = await import("@aws-sdk/client-lambda");
  try {
    const { Tags = {} } = await patient(params, () => client.send(new ListTagsCommand({ Resource: arn })));
    if (Tags["spotter:stack"] !== stack || !isUnused(Tags, params.now(), days)) return;
    await patient(params, () => client.send(new DeleteFunctionCommand({ FunctionName: name })));
    deleted.push(name);
  } catch (error) {
    // Another sweep was quicker.
    if (awsErrorName(error) === "ResourceNotFoundException") return;
    const { code } = awsError(error, { what: "Sweeping", where: name });
    // A storm of throttling: the others would wait as long, one after the other.
    if (code === "aws_throttled" || code === "aws_unreachable") throw error;
    // What else is unused must not wait for it.
    failed.push({ name, error: String(error) });
  }
}

function patient<T>(
  { now, patienceMs = 5_000 }: Pick<SweepUnusedParams, "now" | "patienceMs">,
  work: () => Promise<T>,
): Promise<T> {
  return patiently(work, { now, patienceMs });
}
