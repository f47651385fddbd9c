import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type * as AnalyzerServices from "@pulumi/pulumi/proto/analyzer_grpc_pb.js";
import type * as Analyzer from "@pulumi/pulumi/proto/analyzer_pb.js";
import type { Resource } from "../../../infra/policies/rule.ts";
import { Empty, grpc, Struct } from "./pulumi-proto.ts";

const require = createRequire(createRequire(import.meta.url).resolve("@pulumi/pulumi/package.json"));
const proto = require("./proto/analyzer_pb.js") as typeof Analyzer;
const { AnalyzerClient } = require("./proto/analyzer_grpc_pb.js") as typeof AnalyzerServices;

export interface Diagnostic {
  policy: string;
  message: string;
  urn: string;
  isMandatory: boolean;
}

export interface PolicyPackProcess {
  /** Names of its policies. */
  policies(): Promise<string[]>;
  /** Asked of each resource before it is created. */
  analyze(resource: Resource): Promise<Diagnostic[]>;
  /** Asked of all of them in the end. */
  analyzeStack(resources: readonly Resource[]): Promise<Diagnostic[]>;
  close(): Promise<void>;
}

/** Starts a policy pack as `pulumi preview --policy-pack FOLDER` does, and asks it as the engine does. */
export async function startPolicyPack(folder: string): Promise<PolicyPackProcess> {
  const child = spawn(process.execPath, [require.resolve("./cmd/run-policy-pack"), "127.0.0.1:0", "."], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"] },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const ended = once(child, "exit");
  // The first line that it writes is its port.
  const port = await Promise.race([
    once(createInterface(child.stdout), "line").then(([line]) => Number(line)),
    ended.then(() =>
      Promise.reject(new Error(`${join(folder, "PulumiPolicy.yaml")} did not start: ${complaints}`)),
    ),
  ]);
  const client = new AnalyzerClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  return {
    async policies() {
      const info = await ask<Analyzer.AnalyzerInfo>((answer) => client.getAnalyzerInfo(new Empty(), answer));
      return info.getPoliciesList().map((policy) => policy.getName());
    },
    async analyze(resource) {
      const request = fill(new proto.AnalyzeRequest(), resource);
      return diagnostics(await ask((answer) => client.analyze(request, answer)));
    },
    async analyzeStack(resources) {
      const request = new proto.AnalyzeStackRequest();
      request.setResourcesList(resources.map((each) => fill(new proto.AnalyzerResource(), each)));
      return diagnostics(await ask((answer) => client.analyzeStack(request, answer)));
    },
    async close() {
      client.close();
      child.kill();
      await ended;
    },
  };
}

function ask<T>(call: (answer: (error: Error | null, response: T) => void) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, response) => {
      if (error) reject(error);
      else resolve(response);
    });
  });
}

function fill<T extends Analyzer.AnalyzeRequest | Analyzer.AnalyzerResource>(
  request: T,
  resource: Resource,
): T {
  request.setType(resource.type);
  request.setName(resource.name);
  request.setUrn(resource.urn);
  request.setOptions(new proto.AnalyzerResourceOptions());
  request.setProperties(Struct.fromJavaScript(JSON.parse(JSON.stringify(resource.props)) as never));
  return request;
}

function diagnostics(response: Analyzer.AnalyzeResponse): Diagnostic[] {
  return response.getDiagnosticsList().map((each) => ({
    policy: each.getPolicyname(),
    message: each.getMessage(),
    urn: each.getUrn(),
    isMandatory: each.getEnforcementlevel() === proto.EnforcementLevel.MANDATORY,
  }));
}
