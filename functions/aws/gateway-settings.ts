import * as z from "zod/mini";
import { parseWith } from "../../sdk/schema/parse.ts";
import { DRAIN_TIMES } from "../gateway/drain.ts";
import { CLOUDFRONT_HOLDS, HOLDS, type Holds } from "../gateway/hold.ts";
import type { GatewayOptions } from "../gateway/serve.ts";

const whole = (most: number) => z.coerce.number().check(z.int(), z.gte(0), z.lte(most));
/** Fargate gives a container two minutes between SIGTERM and its end. */
const MAX_DRAIN_MS = 120_000;

const schema = z.object({
  PORT: z._default(whole(65_535), 8080),
  /** What is in front of the load balancer, which decides how long requests may be held. */
  SPOTTER_FRONT_DOOR: z._default(z.enum(["cloudfront", "direct"]), "cloudfront"),
  SPOTTER_ORIGIN_SECRET: z.optional(z.string().check(z.minLength(1))),
  SPOTTER_DRAIN_ACCEPT_MS: z._default(whole(MAX_DRAIN_MS), DRAIN_TIMES.acceptMs),
  SPOTTER_DRAIN_FINISH_MS: z._default(whole(MAX_DRAIN_MS), DRAIN_TIMES.finishMs),
});

interface GatewaySettings extends GatewayOptions {
  holds: Holds;
}

/**
 * What the gateway container is told by its environment, besides what its ports need.
 *
 * @throws SpotterError `aws_config_invalid`
 */
export function gatewaySettings(environment: Readonly<Record<string, string | undefined>>): GatewaySettings {
  const data = parseWith(schema, environment, "The environment of this gateway", {
    code: "aws_config_invalid",
    hint: "The stack sets it; see functions/aws/gateway-settings.ts for what it may be.",
  });
  return {
    port: data.PORT,
    host: "0.0.0.0",
    originSecret: data.SPOTTER_ORIGIN_SECRET,
    holds: data.SPOTTER_FRONT_DOOR === "direct" ? HOLDS : CLOUDFRONT_HOLDS,
    drainTimes: { acceptMs: data.SPOTTER_DRAIN_ACCEPT_MS, finishMs: data.SPOTTER_DRAIN_FINISH_MS },
  };
}
