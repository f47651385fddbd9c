/**
 * The gateway container on AWS: `node gateway.mjs`. Serves chat, streams of events and metrics on `PORT` (8080),
 * decides with the other gateways how many replicas there are, and ends on SIGTERM when what is under way has
 * ended.
 *
 * @module
 */
import { SpotterError } from "../sdk/schema/errors.ts";

try {
  await run();
  process.exit(0);
} catch (thrown) {
  const error = SpotterError.from(thrown);
  process.stderr.write(`${JSON.stringify(error.toBody())}\n`);
  process.exit(1);
}

async function run(): Promise<void> {
  const told = Promise.withResolvers<undefined>();
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => told.resolve(undefined));
  const [{ openPorts }, { store }, { gatewaySettings }, { startGateway }] = await Promise.all([
    import("./aws/aws-deps/open.ts"),
    import("./aws/aws-deps/store.ts"),
    import("./aws/gateway-settings.ts"),
    import("./gateway/serve.ts"),
  ]);
  const { holds, ...options } = gatewaySettings(process.env);
  const opened = openPorts({ store }, { environment: process.env });
  const deps = { ...opened, config: { ...opened.config, holds } };
  const gateway = await startGateway(deps, options);
  deps.log.info("gateway listens", { port: gateway.port, version: deps.config.version });
  await told.promise;
  deps.log.info("gateway ends", {});
  await gateway.close();
  await opened.flushWakes();
  await opened.store.close();
}
