import * as ssm from "@aws-sdk/client-ssm";
import { CallFailures } from "./aws/control.ts";
import { type Call, listen } from "./aws/server.ts";
import { type SsmParameters, ssmHandlers } from "./aws/ssm.ts";
import { jsonProtocol } from "./aws/wire/json.ts";
import { FAKE_AWS } from "./s3.ts";

export interface FakeSsm {
  /** For the client of SSM. */
  clientConfig: typeof FAKE_AWS & { endpoint: string };
  parameters: SsmParameters;
  /** Every request, in order. */
  calls: Call[];
  failures: CallFailures;
  close: () => Promise<void>;
}

/** SSM's Parameter Store alone, over HTTP on 127.0.0.1. */
export async function fakeSsm(): Promise<FakeSsm> {
  const parameters: SsmParameters = new Map();
  const failures = new CallFailures();
  const calls: Call[] = [];
  const now = () => Date.UTC(2026, 10, 29);
  const service = {
    name: "ssm",
    models: ssm,
    protocol: jsonProtocol,
    mark: "AmazonSSM",
    invalidCode: "ValidationException",
    handlers: ssmHandlers(parameters, now),
  };
  const server = await listen({
    services: [service],
    failures,
    calls,
    traffic: { inFlight: 0, served: 0 },
    now,
  });
  return {
    clientConfig: { ...FAKE_AWS, endpoint: server.endpoint },
    parameters,
    calls,
    failures,
    close: () => server.close(),
  };
}
