import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, it } from "vitest";
import { allRoutes } from "../../functions/app.ts";
import type { Control } from "../../functions/control.ts";
import { eventRoutes } from "../../functions/events/routes.ts";
import { ORIGIN_HEADER } from "../../functions/gateway/front-door.ts";
import { CLOUDFRONT_HOLDS } from "../../functions/gateway/hold.ts";
import { gatewayRoutes } from "../../functions/gateway/routes.ts";
import type { Upstreams } from "../../functions/gateway/upstream.ts";
import type { Route } from "../../functions/http/route.ts";
import { observabilityRoutes } from "../../functions/observability/routes.ts";
import { pageChatRoutes } from "../../functions/pages/chat-routes.ts";
import {
  FUNCTIONS,
  functionsFor,
  pathRules,
  type FunctionName,
} from "../../infra/components/functions-table.ts";
import { takes, targetOf } from "../fakes/path-rules.ts";
import { recordComponents, type Components } from "./record-components.ts";

// What is asked here is which routes there are; none is called.
const control = {} as Control;
const upstreams = {} as Upstreams;
const listed = (routes: Route[]) => routes.map(({ method, path }) => `${method} ${path}`);

/** The routes of a function, as its entry has them. */
async function routesOf(name: FunctionName): Promise<string[]> {
  Object.assign(globalThis, { awslambda: { streamifyResponse: (handler: unknown) => handler } });
  const entry = (await import(`../../functions/lambda/${name}.ts`)) as {
    routes: (control: Control) => Route[];
  };
  return listed(entry.routes(control));
}

/** Where the front door sends a route, whatever its parameters are. */
function targetsOf(route: string, gateway: "fargate" | "lambda"): Set<string | undefined> {
  const path = route.split(" ")[1] ?? "";
  const samples = ["x", "run-1", "events", "stream", "v1", "a.b"].map((value) =>
    path.replaceAll(/:[a-z0-9]+/gi, value).replace("*", `${value}/y`),
  );
  return new Set(samples.map((sample) => targetOf(sample, gateway)));
}

describe("the path rules", () => {
  it.each(functionsFor("lambda").filter(([, { asked }]) => asked !== "event"))(
    "send each route of %s to it, where chats are a function",
    async (name) => {
      const routes = await routesOf(name);
      expect(routes.length).toBeGreaterThan(0);
      for (const route of routes) expect([route, [...targetsOf(route, "lambda")]]).toEqual([route, [name]]);
    },
  );

  it("send each route to the gateway that it answers, and the rest to a function that has it", async () => {
    const ofGateway = new Set(
      listed([
        ...gatewayRoutes(control, upstreams),
        ...pageChatRoutes(control, upstreams),
        ...observabilityRoutes(control),
        // Polls for events are a function's: they are short.
        ...eventRoutes(control).filter(({ response }) => response === "events"),
      ]),
    );
    const known = new Map<string, FunctionName>();
    for (const [name, { asked }] of functionsFor("fargate"))
      if (asked !== "event") for (const route of await routesOf(name)) known.set(route, name);
    const all = listed(allRoutes(control, upstreams));
    expect(all.length).toBeGreaterThan(60);
    for (const route of all) {
      const to = ofGateway.has(route) ? "gateway" : known.get(route);
      expect([route, [...targetsOf(route, "fargate")]]).toEqual([route, [to]]);
    }
  });

  it.each(["fargate", "lambda"] as const)(
    "are no more than CloudFront takes, and each is used: %s",
    (gateway) => {
      const rules = pathRules(gateway);
      expect(rules.at(-1)).toEqual({ path: "*", to: "pages" });
      // The default of 25, so that no quota has to be asked for.
      expect(rules.length - 1).toBeLessThanOrEqual(25);
      const all = listed(allRoutes(control, upstreams)).map((route) => route.split(" ")[1] ?? "");
      const first = (path: string) =>
        rules.find((rule) => takes(rule.path, path.replaceAll(/:[a-z0-9]+/gi, "x")))?.path;
      const used = new Set(all.map(first));
      expect(rules.map(({ path }) => path).filter((path) => !used.has(path))).toEqual([]);
    },
  );

  it("lead strangers to the pages function, which says what is there", () => {
    for (const path of ["/nowhere", "/chat/completions", "/api/v1/chat/completions", "/health"])
      expect(targetOf(path, "fargate")).toBe("pages");
  });
});

const SECRET = "a secret of 32 letters or more, for tests";
const DISTRIBUTION = "aws:cloudfront/distribution:Distribution";

interface Distribution {
  origins: {
    originId: string;
    domainName: string;
    customHeaders: { name: string; value: string }[];
    customOriginConfig: Record<string, unknown>;
  }[];
  orderedCacheBehaviors: Record<string, unknown>[];
  defaultCacheBehavior: Record<string, unknown>;
  aliases?: string[];
  viewerCertificate: Record<string, unknown>;
}

const record = (settings: Record<string, string> = {}) =>
  recordComponents(settings, async (config) => {
    const { FrontDoor } = await import("../../infra/components/front-door.ts");
    const names = functionsFor(config.gateway).filter(([, { asked }]) => asked !== "event");
    const door = new FrontDoor(
      "front-door",
      {
        functions: names.map(([name]) => ({ name, url: `https://${name}.lambda-url.eu-central-1.on.aws/` })),
        ...(config.gateway === "fargate" && {
          gateway: { domainName: "balancer.example.com", usesTls: config.domain !== null },
        }),
        originSecret: SECRET,
      },
      config,
    );
    return { url: door.url };
  });
const distributionOf = (recording: Components) =>
  recording.only(DISTRIBUTION).inputs as unknown as Distribution;

describe("the distribution", () => {
  let door: Components;
  let distribution: Distribution;
  beforeAll(async () => {
    door = await record();
    distribution = distributionOf(door);
  }, 60_000);

  it("proves itself to everybody behind it", () => {
    const names = functionsFor("fargate").filter(([, { asked }]) => asked !== "event");
    expect(distribution.origins.map(({ originId }) => originId)).toEqual([
      "gateway",
      ...names.map(([name]) => name),
    ]);
    for (const { originId, customHeaders } of distribution.origins)
      expect(customHeaders, originId).toEqual([{ name: ORIGIN_HEADER, value: SECRET }]);
    expect(distribution.origins[1]?.domainName).toBe("datasets.lambda-url.eu-central-1.on.aws");
  });

  it("waits for the gateway longer than a request is held, and for functions as long as they work", () => {
    const waits = (id: string) =>
      Number(
        distribution.origins.find((each) => each.originId === id)?.customOriginConfig["originReadTimeout"],
      );
    expect(waits("gateway") * 1000).toBeGreaterThan(CLOUDFRONT_HOLDS.jsonMs);
    for (const [name, { asked, timeoutS }] of functionsFor("fargate"))
      if (asked === "http") expect(waits(name), name).toBeGreaterThanOrEqual(timeoutS);
  });

  it("passes on every method and header but the host, and keeps nothing", () => {
    const behaviors = [...distribution.orderedCacheBehaviors, distribution.defaultCacheBehavior];
    expect(behaviors).toHaveLength(pathRules("fargate").length);
    for (const behavior of behaviors) {
      expect(behavior).toMatchObject({
        allowedMethods: ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"],
        cachePolicyId: "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
        originRequestPolicyId: "b689b0a8-53d0-40ab-baf2-68738e2966ac",
        compress: false,
      });
      const toPages = behavior["targetOriginId"] === "pages";
      expect(behavior["viewerProtocolPolicy"]).toBe(toPages ? "redirect-to-https" : "https-only");
    }
    expect(distribution.orderedCacheBehaviors.map((each) => each["pathPattern"])).toEqual(
      pathRules("fargate")
        .slice(0, -1)
        .map(({ path }) => path),
    );
    expect(distribution.defaultCacheBehavior["targetOriginId"]).toBe("pages");
  });

  it("tells functions which host was asked, whatever the sender said", () => {
    const code = String(door.only("aws:cloudfront/function:Function").inputs["code"]);
    const headers = { host: { value: "d1.cloudfront.net" }, "x-spotter-host": { value: "evil.example.com" } };
    const event = { request: { headers } };
    const answer = runInNewContext(`${code}; handler(event)`, { event }) as typeof event.request;
    expect(answer.headers["x-spotter-host"]).toEqual({ value: "d1.cloudfront.net" });
    for (const behavior of [...distribution.orderedCacheBehaviors, distribution.defaultCacheBehavior])
      expect(behavior["functionAssociations"] !== undefined).toBe(behavior["targetOriginId"] !== "gateway");
  });

  it("has TLS of its own without a domain, and asks the load balancer within AWS's network", () => {
    expect(distribution.viewerCertificate).toEqual({ cloudfrontDefaultCertificate: true });
    expect(distribution.aliases).toBeUndefined();
    expect(distribution.origins[0]?.customOriginConfig["originProtocolPolicy"]).toBe("http-only");
    for (const { originId, customOriginConfig } of distribution.origins.slice(1))
      expect(customOriginConfig["originProtocolPolicy"], originId).toBe("https-only");
  });
});

it("has the certificate and the records of a domain, and TLS all the way", async () => {
  const own = await record({ domain: "gym.example.com", hostedZoneId: "Z0123456789ABC" });
  const distribution = distributionOf(own);
  expect(distribution.aliases).toEqual(["gym.example.com"]);
  expect(distribution.viewerCertificate).toMatchObject({ minimumProtocolVersion: "TLSv1.2_2021" });
  expect(distribution.origins[0]?.customOriginConfig["originProtocolPolicy"]).toBe("https-only");
  // CloudFront takes certificates of that region only.
  expect(own.only("aws:acm/certificate:Certificate").inputs).toMatchObject({
    domainName: "gym.example.com",
    region: "us-east-1",
    validationMethod: "DNS",
  });
  const records = own.all("aws:route53/record:Record").map(({ inputs }) => [inputs["name"], inputs["type"]]);
  expect(records).toEqual(
    expect.arrayContaining([
      ["gym.example.com", "A"],
      ["gym.example.com", "AAAA"],
      ["_proof.gym.example.com", "CNAME"],
    ]),
  );
});

it("has no gateway behind it where chats are a function", async () => {
  const distribution = distributionOf(await record({ gateway: "lambda" }));
  expect(distribution.origins.map(({ originId }) => originId)).not.toContain("gateway");
  expect(distribution.origins.map(({ originId }) => originId)).toContain("chat");
  const chat = distribution.orderedCacheBehaviors.find((each) => each["pathPattern"] === "/v1*");
  expect(chat?.["targetOriginId"]).toBe("chat");
  const silenceS = distribution.origins.find(({ originId }) => originId === "chat")?.customOriginConfig[
    "originReadTimeout"
  ];
  expect(Number(silenceS) * 1000).toBeGreaterThan(CLOUDFRONT_HOLDS.jsonMs);
  expect(FUNCTIONS.chat.timeoutS).toBe(900);
});
