import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import type { Isolates } from "../../ports/isolates.ts";
import { CALLED_OFF, createLambdaIsolates, OPEN_NETWORK } from "../lambda-isolates.ts";
import { adapter } from "./adapter.ts";

/** Lies beside the function's own code; see infra/bundle.ts. */
const HOST = "./user-code-host.mjs";

const ids = z.pipe(
  z.string(),
  z.transform((text) => text.split(",").filter((each) => each !== "")),
);
const variables = {
  /** Role without rights, of the functions that run user code. */
  SPOTTER_ISOLATE_ROLE_ARN: z.string().check(z.regex(/^arn:[^:]+:iam::\d{12}:role\/.+/)),
  /** Subnets that lead nowhere, with commas between; by default user code is in Lambda's own network. */
  SPOTTER_ISOLATE_SUBNETS: z.optional(ids),
  SPOTTER_ISOLATE_SECURITY_GROUPS: z.optional(ids),
};

/** User code in functions of its own. */
export const isolates = adapter<Isolates, typeof variables>({
  variables,
  notes: (settings) => [
    ...(settings["SPOTTER_ISOLATE_SUBNETS"] === undefined ? [OPEN_NETWORK] : []),
    CALLED_OFF,
  ],
  open(own, { settings, log }) {
    const { SPOTTER_ISOLATE_SUBNETS: subnetIds, SPOTTER_ISOLATE_SECURITY_GROUPS: securityGroupIds = [] } =
      own;
    const create = () =>
      createLambdaIsolates({
        stack: settings.SPOTTER_STACK,
        roleArn: own.SPOTTER_ISOLATE_ROLE_ARN,
        hostCode: readFileSync(new URL(HOST, import.meta.url), "utf8"),
        network: subnetIds && { subnetIds, securityGroupIds },
        onMessage: ({ sha256, level, text }) => log.info(text, { userCode: sha256, level }),
      });
    // Most requests of a function never run user code.
    let created: Isolates | undefined;
    return {
      load: async (bundle) => (created ??= create()).load(bundle),
      close: async () => created?.close(),
      get running() {
        return created?.running ?? 0;
      },
    };
  },
});
