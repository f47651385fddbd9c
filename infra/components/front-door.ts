import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";
import { aliasRecords, DomainCertificate } from "./domain.ts";
import { pathRules, type FunctionName, type PathRule } from "./functions-table.ts";

export interface FrontDoorArgs {
  /** Functions that answer over HTTP, with their own addresses. */
  functions: { name: FunctionName; url: pulumi.Input<string> }[];
  /** The load balancer before the gateway; undefined where chats are a function too. */
  gateway?: { domainName: pulumi.Input<string>; usesTls: boolean };
  /** What the front door proves itself with. */
  originSecret: pulumi.Input<string>;
}

/** What functions and the gateway look for, see functions/gateway/front-door.ts. */
const SECRET_HEADER = "x-spotter-origin";
/** Policies of CloudFront's own, the same in every account: nothing is kept, everything but the host is passed on. */
const CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad";
const ALL_BUT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac";
const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
/** The longest silence of what carries chats: a cold start is held for almost as long, see functions/gateway/hold.ts. */
const GATEWAY_SILENCE_S = 120;
const FUNCTION_SILENCE_S = 60;
/** Zone of every distribution. */
const CLOUDFRONT_ZONE = "Z2FDTNDATAQYW2";

/**
 * Functions are asked under a name of their own: which one the sender asked for they are told here. See
 * functions/lambda/host/front-door.ts.
 */
const TELL_HOST = `function handler(event) {
  var request = event.request;
  request.headers["x-spotter-host"] = { value: request.headers.host.value };
  return request;
}
`;

/** The one address of a stack: TLS, and each path to the function or the gateway that answers it. */
export class FrontDoor extends pulumi.ComponentResource {
  /** Without a slash at the end. */
  readonly url: pulumi.Output<string>;
  readonly distributionId: pulumi.Output<string>;

  constructor(
    name: string,
    args: FrontDoorArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:FrontDoor", name, {}, options);
    const parent = { parent: this };
    const { domain } = config;
    const certificate =
      domain && new DomainCertificate(name, { ...domain, region: "us-east-1" }, config, parent);
    const tellHost = new aws.cloudfront.Function(
      name,
      {
        runtime: "cloudfront-js-2.0",
        comment: "Tells functions which host was asked",
        code: TELL_HOST,
        tags: config.tags,
      },
      parent,
    );
    const rules = pathRules(config.gateway);
    const [last, ...others] = rules.map((rule) => behaviorOf(rule, tellHost.arn)).toReversed();
    if (last === undefined) throw new Error("The front door has no path at all.");
    const { pathPattern: _, ...everythingElse } = last;
    const distribution = new aws.cloudfront.Distribution(
      name,
      {
        comment: `Spotter ${pulumi.getStack()}`,
        enabled: true,
        isIpv6Enabled: true,
        httpVersion: "http2and3",
        priceClass: "PriceClass_100",
        origins: originsOf(args),
        orderedCacheBehaviors: others.toReversed(),
        defaultCacheBehavior: everythingElse,
        restrictions: { geoRestriction: { restrictionType: "none" } },
        ...(domain !== null && { aliases: [domain.name] }),
        viewerCertificate:
          certificate === null
            ? { cloudfrontDefaultCertificate: true }
            : {
                acmCertificateArn: certificate.arn,
                sslSupportMethod: "sni-only",
                minimumProtocolVersion: "TLSv1.2_2021",
              },
        tags: config.tags,
      },
      parent,
    );
    if (domain !== null) {
      const target = { domainName: distribution.domainName, zoneId: CLOUDFRONT_ZONE };
      aliasRecords(name, domain, target, { types: ["A", "AAAA"], parent: this });
    }
    this.url = pulumi.interpolate`https://${domain?.name ?? distribution.domainName}`;
    this.distributionId = distribution.id;
    this.registerOutputs({ url: this.url });
  }
}

function behaviorOf(
  { path, to }: PathRule,
  tellHostArn: pulumi.Input<string>,
): aws.types.input.cloudfront.DistributionOrderedCacheBehavior {
  return {
    pathPattern: path,
    targetOriginId: to,
    // A key that was sent in the open is not taken: it has been seen. A browser that looks for a page is led on.
    viewerProtocolPolicy: to === "pages" ? "redirect-to-https" : "https-only",
    allowedMethods: METHODS,
    cachedMethods: ["GET", "HEAD"],
    cachePolicyId: CACHING_DISABLED,
    originRequestPolicyId: ALL_BUT_HOST,
    // Streams would wait for it.
    compress: false,
    ...(to !== "gateway" && {
      functionAssociations: [{ eventType: "viewer-request", functionArn: tellHostArn }],
    }),
  };
}

function originsOf({
  functions,
  gateway,
  originSecret,
}: FrontDoorArgs): aws.types.input.cloudfront.DistributionOrigin[] {
  const customHeaders = [{ name: SECRET_HEADER, value: originSecret }];
  const ofFunctions = functions.map(({ name, url }) => ({
    originId: name,
    domainName: pulumi.output(url).apply((text) => new URL(text).host),
    customHeaders,
    customOriginConfig: originConfig("https-only", name === "chat" ? GATEWAY_SILENCE_S : FUNCTION_SILENCE_S),
  }));
  if (gateway === undefined) return ofFunctions;
  const { domainName, usesTls } = gateway;
  return [
    {
      originId: "gateway",
      domainName,
      customHeaders,
      customOriginConfig: originConfig(usesTls ? "https-only" : "http-only", GATEWAY_SILENCE_S),
    },
    ...ofFunctions,
  ];
}

function originConfig(
  originProtocolPolicy: "https-only" | "http-only",
  originReadTimeout: number,
): aws.types.input.cloudfront.DistributionOriginCustomOriginConfig {
  return {
    httpPort: 80,
    httpsPort: 443,
    originProtocolPolicy,
    originSslProtocols: ["TLSv1.2"],
    originReadTimeout,
    originKeepaliveTimeout: 60,
  };
}
