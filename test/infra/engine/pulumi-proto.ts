import { createRequire } from "node:module";
import type * as Grpc from "@grpc/grpc-js";
import type * as EngineServices from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import type * as Engine from "@pulumi/pulumi/proto/engine_pb.js";
import type * as MonitorServices from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import type * as Monitor from "@pulumi/pulumi/proto/resource_pb.js";
import type * as EmptyMessage from "google-protobuf/google/protobuf/empty_pb.js";
import type * as StructMessage from "google-protobuf/google/protobuf/struct_pb.js";

// Pulumi's own copies of gRPC and of its messages: a message made by another copy is none for it. Their exports
// are made when they run, so an import could not name them.
const require = createRequire(createRequire(import.meta.url).resolve("@pulumi/pulumi/package.json"));

export const grpc = require("@grpc/grpc-js") as typeof Grpc;
export const engineProto = require("./proto/engine_pb.js") as typeof Engine;
export const engineServices = require("./proto/engine_grpc_pb.js") as typeof EngineServices;
export const monitorProto = require("./proto/resource_pb.js") as typeof Monitor;
export const monitorServices = require("./proto/resource_grpc_pb.js") as typeof MonitorServices;
export const { Empty } = require("google-protobuf/google/protobuf/empty_pb.js") as typeof EmptyMessage;
export const { Struct } = require("google-protobuf/google/protobuf/struct_pb.js") as typeof StructMessage;

/** Not among the declared exports: asks the monitor what it can do, as the language host does first. */
export const { awaitFeatureSupport } = require("./runtime/settings.js") as {
  awaitFeatureSupport: () => Promise<void>;
};

/** The language host that `pulumi up` starts. */
export const languageHost = require.resolve("./cmd/run");

export type { Engine, EngineServices, Grpc, Monitor, MonitorServices };
