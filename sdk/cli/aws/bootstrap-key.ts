import {
  keyBootstrapAnswer,
  type BootstrappedKey,
  type KeyBootstrapInput,
} from "../../schema/key-bootstrap.ts";
import { SpotterError } from "../../schema/errors.ts";
import { parseWith } from "../../schema/parse.ts";
import { asked } from "./aws-failure.ts";
import { clientOptions, loadClient, type AwsOptions } from "./load-client.ts";
import { taggedResources } from "./tagged-resources.ts";

/** How the name of the function that makes first keys ends; Pulumi may add some digits. */
const FUNCTION = /(^|-)key-bootstrap(-[0-9a-f]+)?$/;

export interface BootstrapKeyParams extends AwsOptions, KeyBootstrapInput {
  /** Name of the stack. */
  stack: string;
  /** Of its function for first keys, where that is known: tags of what is new are found some minutes later. */
  functionName?: string | undefined;
}

/**
 * Makes a key of a stack with the caller's own AWS credentials: they must be allowed to invoke the stack's
 * function for it.
 *
 * @example
 * const { url, key } = await bootstrapKey({ stack: "dev", region: "eu-central-1" });
 * @throws SpotterError `conflict` where an admin key lives already and `force` is not set; `not_found` where the
 * region has no such stack; `aws_denied` and others of AWS.
 */
export async function bootstrapKey(params: BootstrapKeyParams): Promise<BootstrappedKey> {
  const { stack, region, functionName, ...input } = params;
  const name = functionName ?? (await functionOf(stack, { region }));
  const sdk = await loadClient("@aws-sdk/client-lambda", () => import("@aws-sdk/client-lambda"));
  const { FunctionError, Payload } = await asked(
    { what: `Invoking ${name}`, needs: "lambda:InvokeFunction on it" },
    () =>
      // Once: a repetition of what was done but not answered would find the key that nobody was told.
      new sdk.LambdaClient({ ...clientOptions({ region }), maxAttempts: 1 }).send(
        new sdk.InvokeCommand({ FunctionName: name, Payload: Buffer.from(JSON.stringify(input)) }),
      ),
  );
  const text = Buffer.from(Payload ?? []).toString();
  if (FunctionError !== undefined) {
    throw new SpotterError("internal", `The function ${name} failed: ${text.slice(0, 500)}`, {
      where: name,
      hint: "Its log group in CloudWatch has more. `spotter deploy` repairs a stack that is incomplete.",
    });
  }
  const answer = parseWith(keyBootstrapAnswer, dataOf(text, name), `The answer of ${name}`, {
    code: "internal",
    hint: "The stack is of another version: `spotter deploy` updates it.",
  });
  if ("error" in answer) throw SpotterError.fromBody(answer, 409);
  return answer;
}

/** Of what is no JSON nothing is repeated: a key may be in it. */
function dataOf(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SpotterError("internal", `The function ${name} answered something that is no JSON.`, {
      where: name,
      hint: "Its log group in CloudWatch has more. `spotter deploy` repairs a stack that is incomplete.",
    });
  }
}

async function functionOf(stack: string, options: AwsOptions): Promise<string> {
  const functions = await taggedResources(stack, options, ["lambda:function"]);
  const names = functions
    // Functions of user code are named after the stack, which may be called anything.
    .filter(({ tags }) => tags["spotter:kind"] !== "isolate")
    .map(({ arn }) => arn.split(":").at(6) ?? "")
    .filter((each) => FUNCTION.test(each));
  const [name] = names;
  if (name !== undefined) return name;
  const region = options.region ?? "the region of your AWS profile";
  const isThere = functions.length > 0;
  throw new SpotterError(
    "not_found",
    isThere
      ? `The stack ${stack} in ${region} has no function that makes keys.`
      : `There is no stack ${stack} in ${region}.`,
    {
      where: "--stack",
      hint: isThere
        ? "Its update did not finish: `spotter deploy --recover`."
        : "Name it with `--stack` and `--region`, or make it with `spotter deploy`.",
    },
  );
}
