import { parseObject, toJson } from "./json.ts";
import type { Protocol, ServiceModel, WireRequest } from "./protocol.ts";
import { operationFrom, type Member, type Operation } from "./schema.ts";

/** REST JSON: the operation is a method and a path, and members travel in the path, query, headers or body. */
export const restProtocol: Protocol = {
  operationOf(request, service) {
    return routesOf(service).find(
      ({ method, pattern }) => method === request.method && pattern.test(request.url.pathname),
    )?.name;
  },
  read(request, operation) {
    const { input } = operation;
    if (input.kind !== "structure") return {};
    const payload = [...input.members].find(([, member]) => member().traits.httpPayload === 1);
    const bound = [...input.members]
      .map(([name, member]) => [name, boundValue(name, member, request, operation)] as const)
      .filter(([, value]) => value !== undefined);
    const inBody =
      payload === undefined
        ? parseObject(request.body)
        : request.body.length > 0
          ? { [payload[0]]: new Uint8Array(request.body) }
          : {};
    return { ...inBody, ...Object.fromEntries(bound) };
  },
  write(output, operation, requestId) {
    const headers: Record<string, string> = {
      "content-type": "application/json",
      "x-amzn-requestid": requestId,
    };
    let status = 200;
    let body: string | Uint8Array | undefined;
    const inBody: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(output)) {
      if (value === undefined) continue;
      const traits = memberOf(operation, name)().traits;
      if (typeof traits.httpHeader === "string")
        headers[traits.httpHeader] = (value as string | number).toString();
      else if (traits.httpResponseCode === 1) status = Number(value);
      else if (traits.httpPayload === 1) body = value as Uint8Array;
      else inBody[name] = value;
    }
    return { status, headers, body: body ?? JSON.stringify(toJson(operation.output, inBody)) };
  },
  fault: ({ code, message, status }, requestId) => ({
    status,
    headers: {
      "content-type": "application/json",
      "x-amzn-errortype": code,
      "x-amzn-requestid": requestId,
    },
    body: JSON.stringify({ message }),
  }),
};

function memberOf({ name: operation, output }: Operation, name: string): Member {
  const member = output.kind === "structure" ? output.members.get(name) : undefined;
  if (member === undefined) throw new Error(`${operation} does not answer with ${name}`);
  return member;
}

interface Route {
  name: string;
  method: string;
  pattern: RegExp;
}

const routes = new Map<object, Route[]>();

function routesOf({ models }: ServiceModel): Route[] {
  const known = routes.get(models);
  if (known !== undefined) return known;
  const found = Object.values(models as Record<string, unknown>).flatMap((raw) => {
    const operation = operationFrom(raw);
    const http = operation?.traits.http as [string, string, number] | undefined;
    if (operation === undefined || http === undefined) return [];
    return [{ name: operation.name, method: http[0], pattern: patternOf(http[1]) }];
  });
  routes.set(models, found);
  return found;
}

const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template.replace(/\{(\w+)(\+?)\}/g, (_, name: string, greedy: string) => `(?<${name}>${greedy === "+" ? ".+" : "[^/]+"})`)}/?$`,
  );

function boundValue(name: string, member: Member, request: WireRequest, operation: Operation): unknown {
  const { kind, traits } = member();
  const typed = (text: string | undefined | null): unknown => {
    if (text === undefined || text === null) return undefined;
    if (kind === "number") return Number(text);
    return kind === "boolean" ? text === "true" : text;
  };
  if (traits.httpLabel === 1) {
    const template = (operation.traits.http as [string, string, number])[1];
    const label = patternOf(template).exec(request.url.pathname)?.groups?.[name];
    return label === undefined ? undefined : decodeURIComponent(label);
  }
  if (typeof traits.httpQuery === "string") {
    const all = request.url.searchParams.getAll(traits.httpQuery);
    return kind === "list" ? (all.length > 0 ? all : undefined) : typed(all[0]);
  }
  if (typeof traits.httpHeader === "string") {
    const value = request.headers[traits.httpHeader.toLowerCase()];
    return typed(Array.isArray(value) ? value[0] : value);
  }
  return undefined;
}
