import { awsError, awsErrorName } from "../aws-error.ts";
import { patiently } from "./backoff.ts";
import { namePrefix } from "./function-name.ts";
import type { LambdaContext } from "./params.ts";
import { isUnused } from "./used.ts";

/**
 * Deletes this stack's functions that no control plane has loaded for some days. One that is called all the same
 * is made anew by that call.
 */
export async function sweepUnused(context: LambdaContext, days: number): Promise<string[]> {
  const { params, now, patienceMs } = context;
  const client = await context.client();
  const { DeleteFunctionCommand, ListTagsCommand, paginateListFunctions } =
    await import("@aws-sdk/client-lambda");
  const swept: string[] = [];
  try {
    for await (const { Functions = [] } of paginateListFunctions({ client }, {})) {
      for (const { FunctionName: name, FunctionArn: arn } of Functions) {
        if (name === undefined || arn === undefined || !name.startsWith(namePrefix(params.stack))) continue;
        try {
          const tagsOf = () => client.send(new ListTagsCommand({ Resource: arn }));
          const { Tags = {} } = await patiently(tagsOf, { patienceMs, now });
          if (Tags["spotter:stack"] !== params.stack || !isUnused(Tags, now(), days)) continue;
          await client.send(new DeleteFunctionCommand({ FunctionName: name }));
          swept.push(name);
        } catch (error) {
          // Another sweep was quicker.
          if (awsErrorName(error) !== "ResourceNotFoundException") throw error;
        }
      }
    }
  } catch (error) {
    throw awsError(error, {
      what: "Sweeping unused functions of user code",
      where: namePrefix(params.stack),
      needs: "lambda:ListFunctions, lambda:ListTags and lambda:DeleteFunction",
    });
  }
  return swept;
}
