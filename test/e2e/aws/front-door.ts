import {
  createServer,
  request as ask,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { ORIGIN_HEADER } from "../../../functions/gateway/front-door.ts";
import { targetOf } from "../../fakes/path-rules.ts";

export interface FrontDoor {
  server: Server;
  port: number;
  /** Ports behind the door, once they are known. */
  behind: { gateway: number; functions: number };
}

/** CloudFront of a test, with the path rules of a stack: what is the gateway's goes there, the rest to the functions. */
export async function startFrontDoor(secret: string): Promise<FrontDoor> {
  const behind = { gateway: 0, functions: 0 };
  const server = createServer((request, response) => {
    const port = targetOf(request.url ?? "", "fargate") === "gateway" ? behind.gateway : behind.functions;
    pass(request, response, { port, secret });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port, behind };
}

function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { port, secret }: { port: number; secret: string },
): void {
  const { method, url: path, headers } = request;
  const onward = ask(
    { host: "127.0.0.1", port, method, path, headers: { ...headers, [ORIGIN_HEADER]: secret } },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    },
  );
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}
