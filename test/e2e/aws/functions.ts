import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createControlPlane, type ControlPlane } from "../../../functions/app.ts";
import { AwsContainers } from "../../../functions/aws/aws-containers.ts";
import { blobs } from "../../../functions/aws/aws-deps/blobs.ts";
import { containers } from "../../../functions/aws/aws-deps/containers.ts";
import { openPorts, type AwsDeps } from "../../../functions/aws/aws-deps/open.ts";
import { secrets } from "../../../functions/aws/aws-deps/secrets.ts";
import { store } from "../../../functions/aws/aws-deps/store.ts";
import { createLambdaIsolates } from "../../../functions/aws/lambda-isolates.ts";
import { createHttpServer } from "../../../functions/http/http-server.ts";
import { newKey } from "../../../functions/keys/key-ring.ts";
import { userCodeHost } from "../../../infra/user-code-host.ts";
import { STACK } from "./resources.ts";

/** A stack's own times are for instances that take minutes to come. */
export const TIMES = { heartbeatEveryMs: 1_000, leaseMs: 15_000, threads: 1 };

export interface Functions {
  port: number;
  /** An admin key, stored like any other. */
  key: string;
  plane: ControlPlane;
  /** An event of EventBridge. */
  heard(event: unknown): void;
  close(): Promise<void>;
}

/** All functions of the control plane, as one process instead of one for each concern. */
export async function startFunctions(
  environment: Record<string, string>,
  lambdaEndpoint: string,
  write: (line: string) => void,
): Promise<Functions> {
  const opened = openPorts({ store, blobs, secrets, containers }, { environment, write });
  const isolates = createLambdaIsolates({
    stack: STACK,
    roleArn: `arn:aws:iam::000000000000:role/${STACK}-user-code`,
    hostCode: userCodeHost(),
    client: { endpoint: lambdaEndpoint },
  });
  const awake: { plane?: ControlPlane } = {};
  const deps: AwsDeps = {
    ...opened,
    isolates,
    shared: {
      ...opened.shared,
      // On AWS an asynchronous invocation of the function that does it.
      wake: (what) => (what === "webhooks" ? awake.plane?.webhooks.wake() : awake.plane?.reconciler.wake()),
    },
    config: { ...opened.config, ...TIMES },
  };
  const root = newKey(deps.ids.secret(24));
  const plane = createControlPlane(deps, { rootKeyHash: root.hash, shutdown: () => {} });
  awake.plane = plane;
  const server = createHttpServer(plane);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    key: await firstKey(plane, root.key),
    plane,
    heard(event) {
      if (deps.containers instanceof AwsContainers) void deps.containers.heard(event);
      plane.reconciler.wake();
    },
    async close() {
      await plane.reconciler.close();
      await deps.containers.close();
      await ended(server);
      await plane.close();
      await isolates.close();
      await deps.store.close();
    },
  };
}

async function firstKey({ app }: ControlPlane, rootKey: string): Promise<string> {
  const answer = await app.request("/keys", {
    method: "POST",
    headers: { authorization: `Bearer ${rootKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "first", scope: "admin" }),
  });
  if (!answer.ok) throw new Error(`No key: ${await answer.text()}`);
  return ((await answer.json()) as { key: string }).key;
}

export async function ended(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
