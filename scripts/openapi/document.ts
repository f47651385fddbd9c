import * as z from "zod/mini";
import { errorBody } from "../../sdk/schema/errors.ts";
import type { Access, Route, Schema } from "../../functions/http/route.ts";

type Json = Record<string, unknown>;

const SECURITY: Record<Access, Json[]> = {
  open: [],
  admin: [{ key: [] }],
  write: [{ key: [] }],
  job: [{ jobToken: [] }],
  page: [{ session: [] }],
  gateway: [{ key: [] }, { jobToken: [] }, {}],
};

const NEEDS: Record<Access, string> = {
  open: "Open to everyone.",
  admin: "Needs a key of scope admin.",
  write: "Needs a key of scope write or admin.",
  job: "Needs the token of this job.",
  page: "Needs the browser session that `spotter open` makes.",
  gateway: "Needs a key, unless the endpoint is public. Errors have OpenAI's shape.",
};

const LAUNCH_KEY = {
  name: "idempotency-key",
  in: "header",
  required: false,
  description: "The same launch again, with the same key, happens once; with another body it is a conflict.",
  schema: { type: "string", minLength: 1, maxLength: 200 },
};

const MEDIA = {
  bytes: "application/octet-stream",
  jsonl: "application/jsonl",
  events: "text/event-stream",
  html: "text/html",
  text: "text/plain",
} as const;

/** The OpenAPI 3.1 document of a list of routes: everything in it comes from their schemas. */
export function openApiDocument(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}").replace(/\*$/, "{rest}");
    paths[path] = { ...paths[path], [route.method]: operation(route, path) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Spotter",
      version,
      description: "The control plane of a self-hosted training gym. Generated; see scripts/openapi.ts.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "http://127.0.0.1:7717" }],
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: { Error: jsonSchema(errorBody, "output") },
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "A key, `sk-spotter-...`." },
        jobToken: { type: "http", scheme: "bearer", description: "The token of one attempt of a job." },
        session: { type: "apiKey", in: "cookie", name: "spotter_session" },
      },
    },
  };
}

function operation(route: Route, path: string): Json {
  const body = requestBody(route);
  return {
    summary: route.summary,
    description: NEEDS[route.access],
    security: SECURITY[route.access],
    ...parameters(route, path),
    ...(body && { requestBody: body }),
    responses: {
      ...success(route),
      default: {
        description: "An error; its code is explained in docs/errors.md.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

function parameters(route: Route, path: string): Json {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: "path", required: true, schema: { type: "string" } };
  });
  const query =
    route.query && (jsonSchema(route.query, "input") as { properties?: Json; required?: string[] });
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => {
    return { name, in: "query", required: query?.required?.includes(name) ?? false, schema };
  });
  const all = [...inPath, ...inQuery, ...(route.isLaunch ? [LAUNCH_KEY] : [])];
  return all.length === 0 ? {} : { parameters: all };
}

function requestBody(route: Route): Json | undefined {
  const schema = route.body ?? route.documentedBody;
  if (schema)
    return { required: true, content: { "application/json": { schema: jsonSchema(schema, "input") } } };
  if (!route.rawBody) return undefined;
  return { required: true, content: { [MEDIA[route.rawBody]]: { schema: { type: "string" } } } };
}

function success(route: Route): Json {
  if (route.response === "empty") return { "204": { description: "Done." } };
  const status = String(route.status ?? 200);
  if (typeof route.response === "string") {
    return {
      [status]: { description: "OK", content: { [MEDIA[route.response]]: { schema: { type: "string" } } } },
    };
  }
  const schema = jsonSchema(route.response, "output");
  return { [status]: { description: "OK", content: { "application/json": { schema } } } };
}

function jsonSchema(schema: Schema, io: "input" | "output"): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Json;
  return rest;
}
