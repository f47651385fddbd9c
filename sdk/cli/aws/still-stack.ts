import { asked, isGone } from "./aws-failure.ts";
import { clientOptions, loadClient } from "./load-client.ts";
import { nameOf } from "./resource-kinds.ts";
import type { TaggedResource } from "./tagged-resources.ts";

/** Those that start containers, by what their names end with. */
const STARTERS = /(^|-)(reconciler|scaler)(-[0-9a-f]+)?$/;

/** Lets a function be called again, as often as before. */
export type Release = () => Promise<void>;

/**
 * Keeps the control plane from starting anything: what is stopped would be replaced within seconds, as its records
 * want it. The functions that start containers are given no execution environment.
 *
 * @returns What takes it back, for a destruction that does not happen after all.
 */
export async function holdStill(resources: readonly TaggedResource[], region: string): Promise<Release> {
  const names = functionNames(resources).filter((each) => STARTERS.test(each));
  if (names.length === 0) return async () => undefined;
  const sdk = await loadClient("@aws-sdk/client-lambda", () => import("@aws-sdk/client-lambda"));
  const client = new sdk.LambdaClient(clientOptions({ region }));
  const needs = "lambda:GetFunctionConcurrency, PutFunctionConcurrency and DeleteFunctionConcurrency";
  const before = new Map<string, number | undefined>();
  await asked({ what: "Keeping the control plane from starting anything", needs }, async () => {
    for (const FunctionName of names) {
      try {
        const { ReservedConcurrentExecutions: most } = await client.send(
          new sdk.GetFunctionConcurrencyCommand({ FunctionName }),
        );
        await client.send(
          new sdk.PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: 0 }),
        );
        // Zero is what an earlier destruction left, which did not come to its end.
        before.set(FunctionName, most === 0 ? undefined : most);
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
  });
  return () =>
    asked({ what: "Letting the control plane go on", needs }, async () => {
      for (const [FunctionName, most] of before) {
        try {
          if (most === undefined)
            await client.send(new sdk.DeleteFunctionConcurrencyCommand({ FunctionName }));
          else
            await client.send(
              new sdk.PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: most }),
            );
        } catch (error) {
          // The destruction had come this far.
          if (!isGone(error)) throw error;
        }
      }
    });
}

/** Deletes the functions of user code, which the control plane made and Pulumi knows nothing of. */
export async function deleteIsolates(resources: readonly TaggedResource[], region: string): Promise<number> {
  const isolates = functionNames(resources.filter(({ tags }) => tags["spotter:kind"] === "isolate"));
  if (isolates.length === 0) return 0;
  const sdk = await loadClient("@aws-sdk/client-lambda", () => import("@aws-sdk/client-lambda"));
  const client = new sdk.LambdaClient(clientOptions({ region }));
  await asked({ what: "Deleting functions of user code", needs: "lambda:DeleteFunction" }, async () => {
    for (const FunctionName of isolates) {
      try {
        await client.send(new sdk.DeleteFunctionCommand({ FunctionName }));
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
  });
  return isolates.length;
}

/** Most that SSM deletes at a time. */
const TEN = 10;

/** Deletes the secrets that people have set: like the data, they are no part of what Pulumi made. */
export async function deleteSecrets(stack: string, region: string): Promise<number> {
  const sdk = await loadClient("@aws-sdk/client-ssm", () => import("@aws-sdk/client-ssm"));
  const client = new sdk.SSMClient(clientOptions({ region }));
  const needs = "ssm:GetParametersByPath and ssm:DeleteParameters";
  return asked({ what: "Deleting secrets", needs }, async () => {
    const names: string[] = [];
    const pages = sdk.paginateGetParametersByPath({ client }, { Path: `/${stack}/secrets/` });
    for await (const { Parameters = [] } of pages) names.push(...Parameters.flatMap(({ Name = [] }) => Name));
    for (let from = 0; from < names.length; from += TEN)
      await client.send(new sdk.DeleteParametersCommand({ Names: names.slice(from, from + TEN) }));
    return names.length;
  });
}

function functionNames(resources: readonly TaggedResource[]): string[] {
  return resources
    .map(({ arn }) => arn)
    .filter((arn) => arn.includes(":lambda:"))
    .map(nameOf);
}
