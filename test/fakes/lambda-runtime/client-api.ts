import { Agent, request, type ClientRequest, type IncomingHttpHeaders } from "node:http";

export interface NextInvocation {
  id: string;
  event: unknown;
  /** When Lambda ends the process. */
  deadlineMs: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 4 });

/** Begins a request to the Runtime API. */
export function open(method: string, path: string, headers: Record<string, string> = {}): ClientRequest {
  const api = process.env["AWS_LAMBDA_RUNTIME_API"] ?? "";
  return request(`http://${api}/2018-06-01${path}`, { method, headers, agent });
}

/** The whole answer to a request that is sent at once. */
export async function call(
  method: string,
  path: string,
  body?: string,
): Promise<{ headers: IncomingHttpHeaders; body: string }> {
  const outgoing = open(method, path, body === undefined ? {} : { "content-type": "application/json" });
  const answer = answerOf(outgoing);
  outgoing.end(body);
  return answer;
}

export function answerOf(outgoing: ClientRequest): Promise<{ headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    outgoing.on("error", reject).on("response", (incoming) => {
      const chunks: Buffer[] = [];
      incoming
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("error", reject)
        .on("end", () => {
          const body = Buffer.concat(chunks).toString();
          if ((incoming.statusCode ?? 500) < 300) resolve({ headers: incoming.headers, body });
          else reject(new Error(`The Runtime API answered ${incoming.statusCode}: ${body}`));
        });
    });
  });
}
