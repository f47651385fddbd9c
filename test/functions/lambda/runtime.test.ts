import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  startFunction,
  type FakeFunction,
  type FunctionParams,
} from "../../fakes/lambda-runtime/function.ts";

/** A function of a few lines, played by the same runtime as the real bundles. */
async function functionOf(code: string, params: Partial<FunctionParams> = {}): Promise<FakeFunction> {
  const folder = mkdtempSync(join(tmpdir(), "spotter-function-"));
  writeFileSync(join(folder, "index.mjs"), code);
  const started = await startFunction({ folder, ...params });
  onTestFinished(async () => {
    await started.close();
    rmSync(folder, { recursive: true });
  });
  return started;
}

describe("the runtime that plays Lambda's", () => {
  it("starts a process with the first event, keeps it, and starts more for what comes meanwhile", async () => {
    const { url, ...started } = await startedWith(`
      let calls = 0;
      export const handler = async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        return { statusCode: 200, body: String(++calls) };
      };`);
    expect(await textOf(url)).toBe("1");
    expect(await textOf(url)).toBe("2");
    expect(started.coldStarts()).toBe(1);
    await Promise.all([textOf(url), textOf(url)]);
    expect(started.coldStarts()).toBe(2);
    await started.freeze();
    expect(await textOf(url)).toBe("1");
    expect(started.coldStarts()).toBe(3);
  });

  it("passes bytes both ways, and everything else of a request", async () => {
    const { url } = await functionOf(`
      export const handler = async (event) => ({
        statusCode: 201,
        headers: { "content-type": "application/octet-stream", "x-seen": JSON.stringify([
          event.rawPath, event.rawQueryString, event.requestContext.http.method, event.headers["x-own"], event.cookies,
          event.isBase64Encoded,
        ]) },
        cookies: ["a=1", "b=2"],
        body: Buffer.from(event.body, "base64").reverse().toString("base64"),
        isBase64Encoded: true,
      });`);
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const response = await fetch(`${url}/a%20b?c=d%26e`, {
      method: "PUT",
      headers: { "content-type": "application/octet-stream", "x-own": "yes", cookie: "s=1; t=2" },
      body: bytes,
    });
    expect(response.status).toBe(201);
    expect(JSON.parse(response.headers.get("x-seen") ?? "")).toEqual([
      ...["/a%20b", "c=d%26e", "PUT", "yes", ["s=1", "t=2"], true],
    ]);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes.reverse());
  });

  it("answers 502 for a handler that throws, and goes on with the same process", async () => {
    const { url, ...started } = await startedWith(`
      let calls = 0;
      export const handler = async () => {
        if (calls++ === 0) throw new TypeError("out of order");
        return { statusCode: 200, body: "fine" };
      };`);
    const failed = await fetch(url);
    expect([failed.status, failed.headers.get("x-amzn-errortype")]).toEqual([502, "TypeError"]);
    expect(await textOf(url)).toBe("fine");
    expect(started.coldStarts()).toBe(1);
  });

  it("tells of a module that does not load", async () => {
    const started = await functionOf(`throw new Error("no variables");`);
    await expect(started.invoke({})).rejects.toThrow("Runtime.InitError: no variables");
  });

  it("ends an event that takes too long", async () => {
    const started = await functionOf(`export const handler = () => new Promise(() => {});`, {
      timeoutMs: 100,
    });
    await expect(started.invoke({})).rejects.toThrow("timed out after 0.1 seconds");
  });

  it("streams piece by piece, and cuts the line where a stream throws", async () => {
    const { url } = await functionOf(`
      export const handler = awslambda.streamifyResponse(async (event, stream) => {
        stream = awslambda.HttpResponseStream.from(stream, {
          statusCode: 203, headers: { "content-type": "text/plain" }, cookies: ["a=1"],
        });
        for (const word of ["one ", "two ", "three"]) {
          stream.write(word);
          await new Promise((resolve) => setTimeout(resolve, 60));
        }
        if (event.rawPath === "/bad") throw new Error("in the middle");
        stream.end();
      });`);
    const response = await fetch(url);
    expect([response.status, response.headers.getSetCookie()]).toEqual([203, ["a=1"]]);
    const arrivals: number[] = [];
    let text = "";
    for await (const chunk of response.body ?? []) {
      arrivals.push(performance.now());
      text += Buffer.from(chunk).toString();
    }
    expect(text).toBe("one two three");
    const [first = 0, last = 0] = [arrivals[0], arrivals.at(-1)];
    expect(arrivals.length).toBe(3);
    expect(last - first).toBeGreaterThan(80);
    const cut = await fetch(`${url}/bad`);
    await expect(cut.text()).rejects.toThrow();
  });

  it("does not stop a function whose client goes away", async () => {
    const started = await functionOf(`
      export const handler = awslambda.streamifyResponse(async (event, stream) => {
        stream.write("a");
        await new Promise((resolve) => setTimeout(resolve, 150));
        stream.end("b");
        console.log("went on to the end");
      });`);
    const { port } = new URL(started.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    await expect.poll(() => started.output, { timeout: 3_000 }).toContain("went on to the end");
  });
});

async function startedWith(code: string) {
  const started = await functionOf(code);
  return { url: started.url, coldStarts: () => started.coldStarts, freeze: () => started.freeze() };
}

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text();
}
