import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { health } from "../../sdk/schema/status.ts";

export const DEFAULT_PORT = 7717;
const HOST = "127.0.0.1";
const ASK_TIMEOUT_MS = 1_000;

export interface ListenOptions {
  /** A port the user asked for: this one or none. 0: the last one, else any that is free. */
  port?: number;
  /** The port of the daemon before this one: its containers still call there. */
  lastPort?: number;
  /** Default {@link DEFAULT_PORT}. */
  defaultPort?: number;
}

/**
 * Listens on the loopback address and resolves to the port. Without a wish: the last port, else the default
 * one, else a free one if the default belongs to a Spotter daemon of another state folder. A port of another
 * program is `port_busy`.
 */
export async function listen(server: Server, options: ListenOptions): Promise<number> {
  const { port, lastPort, defaultPort = DEFAULT_PORT } = options;
  // Where any port will do, the last one is best: containers that outlived their daemon still call it.
  const isFree = port === undefined || port === 0;
  if (isFree && lastPort !== undefined && (await tryPort(server, lastPort))) return portOf(server);
  if (port !== undefined) {
    if (await tryPort(server, port)) return portOf(server);
    throw portBusy(port);
  }
  if (await tryPort(server, defaultPort)) return portOf(server);
  if (!(await isSpotter(defaultPort))) throw portBusy(defaultPort);
  return free(server);
}

async function free(server: Server): Promise<number> {
  await tryPort(server, 0);
  return portOf(server);
}

/** Whether the server listens now; false if the port is taken or not ours to take. */
function tryPort(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => {
      server.removeListener("listening", listening);
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(false);
      else reject(error);
    };
    const listening = () => {
      server.removeListener("error", failed);
      resolve(true);
    };
    server.once("error", failed);
    server.once("listening", listening);
    server.listen(port, HOST);
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function isSpotter(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ASK_TIMEOUT_MS);
    const response = await fetch(`http://${HOST}:${port}/health`, { signal });
    return health.safeParse(await response.json()).success;
  } catch {
    return false;
  }
}

function portBusy(port: number): SpotterError {
  return new SpotterError("port_busy", `Port ${port} belongs to another program.`, {
    where: `${HOST}:${port}`,
    hint: "Stop that program, or choose another port with --port N or SPOTTER_PORT=N.",
  });
}
