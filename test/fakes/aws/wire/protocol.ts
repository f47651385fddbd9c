import type { IncomingHttpHeaders } from "node:http";
import type { Fault } from "../fault.ts";
import type { Operation } from "./schema.ts";

export interface WireRequest {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface WireAnswer {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** How a family of services writes requests and answers. */
export interface Protocol {
  /** The name of the operation that a request asks for, if it is one of this service. */
  operationOf(request: WireRequest, service: ServiceModel): string | undefined;
  /** The input as the SDK's caller wrote it. Members that the model lacks stay in it, for validation to find. */
  read(request: WireRequest, operation: Operation): Record<string, unknown>;
  write(output: Record<string, unknown>, operation: Operation, requestId: string): WireAnswer;
  fault(fault: Fault, requestId: string): WireAnswer;
}

export interface ServiceModel {
  name: string;
  /** What its SDK package exports. */
  models: object;
  protocol: Protocol;
  /** The prefix of X-Amz-Target, or the Version of a query service. */
  mark?: string;
  /** The error code for input that the model does not allow. */
  invalidCode: string;
}
