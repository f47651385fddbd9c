import type { Context } from "hono";
import type * as z from "zod/mini";
import type { KeyHolder } from "../keys/key-ring.ts";
import type { JobRecord } from "../jobs/records.ts";

/**
 * Who may call a route. `admin`, `write`: a Bearer key of at least that scope. `job`: the token of the job in
 * the path. `page`: the browser cookie. `gateway`: decided by the gateway, which speaks OpenAI's errors.
 * `open`: everyone.
 */
export type Access = "open" | "admin" | "write" | "job" | "page" | "gateway";

export type Schema = z.ZodMiniType;
type Parsed<S extends Schema | undefined> = S extends Schema ? z.infer<S> : undefined;

export interface RouteInput<B extends Schema | undefined, Q extends Schema | undefined> {
  c: Context;
  body: Parsed<B>;
  query: Parsed<Q>;
  /** A path parameter; present because the path declares it. */
  param: (name: string) => string;
  /** What follows the fixed part of a path that ends in `*`. */
  rest: () => string;
  /** The key that was used, on `admin` and `write` routes. */
  holder?: KeyHolder;
  /** What a client repeats a launch with, on routes that say `isLaunch`. */
  launchKey?: string;
  /** The job whose token was used, on `job` routes. */
  job?: JobRecord;
}

export interface RouteDefinition<B extends Schema | undefined, Q extends Schema | undefined> {
  method: "get" | "post" | "put" | "patch" | "delete" | "options";
  path: string;
  access: Access;
  summary: string;
  /** JSON body; "bytes" and "jsonl" are read by the handler. */
  body?: B;
  rawBody?: "bytes" | "jsonl";
  /** For the documentation only: a JSON body that the handler takes as it comes. */
  documentedBody?: Schema;
  query?: Q;
  /** JSON answer, or what else it is. */
  response: Schema | "bytes" | "events" | "html" | "text" | "empty";
  /** Default 200. */
  status?: 200 | 201;
  /** Default 8 MB. */
  maxBodyBytes?: number;
  /** Takes an `idempotency-key`: the same launch again, with the same key, happens once. */
  isLaunch?: true;
  /** A Response goes out as it is, anything else as JSON. */
  handle(input: RouteInput<B, Q>): Promise<unknown>;
}

export type Route = RouteDefinition<Schema | undefined, Schema | undefined>;

/** Declares a route; the handler's input is typed by the schemas. */
export function route<B extends Schema | undefined = undefined, Q extends Schema | undefined = undefined>(
  definition: RouteDefinition<B, Q>,
): Route {
  // The body and query that reach the handler were parsed by these very schemas.
  return definition;
}
