import * as z from "zod/mini";
import { parseWith } from "../../../sdk/schema/parse.ts";
import type { Deps } from "../../deps.ts";
import type { Clock, Log } from "../../ports/clock.ts";

/** Variables that every function of a stack has. */
const common = {
  SPOTTER_VERSION: z.string().check(z.minLength(1)),
  /** Name of the stack; everything that is started is tagged with it. */
  SPOTTER_STACK: z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/)),
  /** How containers and users reach the control plane: the distribution, or a domain of one's own. */
  SPOTTER_URL: z.url({ protocol: /^https?$/ }),
  /** Name of the function that reconciles and sends webhooks. */
  SPOTTER_RECONCILER_FUNCTION: z.optional(z.string().check(z.minLength(1))),
  /** Name of the function that scales; absent where the gateway does. */
  SPOTTER_SCALER_FUNCTION: z.optional(z.string().check(z.minLength(1))),
  /** Where all AWS clients go; AWS itself by default. */
  AWS_ENDPOINT_URL: z.optional(z.url()),
  /** Cores that an engine without a processor of its own to fill uses in its container. */
  SPOTTER_CONTAINER_THREADS: z._default(z.coerce.number().check(z.int(), z.gt(0), z.lte(256)), 4),
  SPOTTER_LOG_LEVEL: z._default(z.enum(["debug", "info", "warn", "error"]), "info"),
};

type CommonSettings = z.infer<z.ZodMiniObject<typeof common>>;
type Shape = Readonly<Record<string, z.ZodMiniType>>;

/** What an adapter gets besides its own variables. */
export interface AdapterContext {
  settings: CommonSettings;
  clock: Clock;
  log: Log;
  /** Hides what is known to be secret. */
  redact: (text: string) => string;
}

/** A port on AWS: the variables it needs, and how it opens. It loads AWS's client with its first call. */
export interface Adapter<T, S extends Shape = Shape> {
  variables: S;
  /** What people should know of it, for `notes` of the status. */
  notes?(settings: Settings): readonly string[];
  /** What is known of this home by its variables. */
  config?(variables: z.infer<z.ZodMiniObject<S>>): Partial<Deps["config"]>;
  open(variables: z.infer<z.ZodMiniObject<S>>, context: AdapterContext): T;
}

/** Types the variables of `open` by the schema that reads them. */
export function adapter<T, S extends Shape>(definition: Adapter<T, S>): Adapter<T, S> {
  return definition;
}

export type Settings = CommonSettings & Record<string, unknown>;

/**
 * The variables of a function: those of all its adapters at once, so that one answer tells all that is wrong.
 *
 * @throws SpotterError `aws_config_invalid`
 */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
  shapes: readonly Shape[],
): Settings {
  const schema = z.object(Object.assign({}, common, ...shapes) as typeof common);
  // The rest of the environment is Lambda's own.
  return parseWith(schema, environment, "The environment of this function", {
    code: "aws_config_invalid",
    hint: "`pulumi up` sets these variables; deploy the stack again.",
  });
}
