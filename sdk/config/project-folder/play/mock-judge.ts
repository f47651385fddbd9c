import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { mockJudgement } from "../../../schema/mock-judge.ts";
import { jsonText } from "./json-text.ts";

/** A server of this machine that judges as the mock does, for Python: that asks over HTTP itself. */
export interface MockJudge {
  /** Of chat completions, as `llm_judge` takes it. */
  url: string;
  /** How many questions it has answered. */
  asked: () => number;
  close: () => Promise<void>;
}

export async function openMockJudge(): Promise<MockJudge> {
  let asked = 0;
  const answer = async (request: IncomingMessage): Promise<string> => {
    const body = jsonText(await text(request));
    asked++;
    return JSON.stringify(mockJudgement(body));
  };
  const server = createServer((request, response) => {
    answer(request).then(
      (json) => response.writeHead(200, { "content-type": "application/json" }).end(json),
      () => response.destroy(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    asked: () => asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
