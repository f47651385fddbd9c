/**
 * Streaming clients in a process of their own: `client.ts MODE URL HEADERS_JSON`, prints one JSON line.
 *
 * - `first-token`: 64 at a time, paced, begun in turn; milliseconds from sending to the first byte of each body.
 * - `many`: 2,000 at the same time; how many did not end with `[DONE]`.
 * - `abort`: leaves streams after their first byte; the id and the time of each.
 */
import { Agent, request, type ClientRequest, type IncomingMessage } from "node:http";
import { ASK_SLOW, ASK_STREAM, FIRST_TOKEN_MS, TOKEN_EVERY_MS, TOKENS } from "./fixed.ts";

const STREAMS = 64;
const STREAM_MS = FIRST_TOKEN_MS + TOKENS * TOKEN_EVERY_MS;
const ROUNDS = 12;
const MANY = 2_000;
const MANY_RAMP = 50;
const ABORTS = 100;
const ABORTS_AT_ONCE = 10;

const [mode = "", url = "", headersJson = "{}"] = process.argv.slice(2);
const headers = JSON.parse(headersJson) as Record<string, string>;
const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

const modes: Record<string, () => Promise<unknown>> = { "first-token": firstToken, many, abort };
const run = modes[mode];
if (run === undefined) throw new Error(`There is no mode ${mode}`);
process.stdout.write(`${JSON.stringify(await run())}\n`);
agent.destroy();

async function firstToken(): Promise<{ times: number[] }> {
  const times: number[] = [];
  await inParallel(STREAMS, async (index) => {
    // Evenly spread over the length of a stream: all at the same instant would measure a queue, not a gateway.
    await new Promise((resolve) => setTimeout(resolve, (index * STREAM_MS) / STREAMS));
    for (let round = 0; round < ROUNDS; round++) {
      const sentMs = performance.now();
      let firstMs: number | undefined;
      const { response } = await ask(ASK_STREAM);
      const { isWhole } = await read(response, () => (firstMs ??= performance.now() - sentMs));
      if (!isWhole || firstMs === undefined) throw new Error(`A stream ended early (${response.statusCode})`);
      // The first round opens the connections.
      if (round > 0) times.push(firstMs);
    }
  });
  return { times };
}

async function many(): Promise<{ errors: number; reasons: string[]; seconds: number }> {
  const startedMs = performance.now();
  const reasons: string[] = [];
  await inParallel(MANY, async (index) => {
    await new Promise((resolve) => setTimeout(resolve, Math.floor(index / MANY_RAMP) * 50));
    try {
      const { response } = await ask(ASK_SLOW);
      const { isWhole, last } = await read(response);
      if (!isWhole) reasons.push(`${response.statusCode} ${last.slice(-200)}`);
    } catch (error) {
      reasons.push(String(error));
    }
  });
  const seconds = (performance.now() - startedMs) / 1000;
  return { errors: reasons.length, reasons: reasons.slice(0, 3), seconds };
}

async function abort(): Promise<{ left: Record<string, number> }> {
  const left: Record<string, number> = {};
  await inParallel(ABORTS_AT_ONCE, async (worker) => {
    for (let round = 0; round < ABORTS / ABORTS_AT_ONCE; round++) {
      const id = `abort-${worker}-${round}`;
      const { sent, response } = await ask(ASK_SLOW, { "x-request-id": id });
      await new Promise<void>((resolve) => response.once("data", () => resolve()));
      left[id] = performance.timeOrigin + performance.now();
      sent.destroy();
    }
  });
  return { left };
}

function ask(
  body: string,
  more: Record<string, string> = {},
): Promise<{ sent: ClientRequest; response: IncomingMessage }> {
  return new Promise((resolve, reject) => {
    const length = { "content-length": Buffer.byteLength(body) };
    const sent = request(url, { agent, method: "POST", headers: { ...headers, ...length, ...more } });
    sent.once("error", reject);
    sent.once("response", (response) => resolve({ sent, response }));
    sent.end(body);
  });
}

function read(response: IncomingMessage, onData?: () => void): Promise<{ isWhole: boolean; last: string }> {
  let last = "";
  return new Promise((resolve) => {
    response.on("data", (chunk: Buffer) => {
      onData?.();
      last = (last + chunk.toString("latin1")).slice(-400);
    });
    response.once("close", () => {
      const isWhole = response.statusCode === 200 && response.complete && last.endsWith("data: [DONE]\n\n");
      resolve({ isWhole, last });
    });
  });
}

async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, index) => work(index)));
}
