import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface FakeUpstream {
  address: string;
  requests: {
    path: string;
    body: Record<string, unknown>;
    request: IncomingMessage;
    response: ServerResponse;
  }[];
  /** Requests whose client went away before the answer was complete. */
  aborted: number;
}

/** A replica as a test plays it: `answer` gets each request with its parsed body. */
export async function fakeUpstream(
  onEnd: (end: () => Promise<void>) => void,
  answer: (response: ServerResponse, body: Record<string, unknown>) => void,
): Promise<FakeUpstream> {
  const upstream: FakeUpstream = { address: "", requests: [], aborted: 0 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
      upstream.requests.push({ path: request.url ?? "", body, request, response });
      answer(response, body);
    });
    response.on("close", () => {
      if (!response.writableFinished) upstream.aborted++;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  upstream.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  onEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return upstream;
}
