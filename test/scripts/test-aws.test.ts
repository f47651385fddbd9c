import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startAwsAccount, stubAws } from "../fakes/aws-account.ts";
import { startBuckets } from "../fakes/buckets.ts";
import { fakePulumi } from "../fakes/pulumi.ts";

const script = join(import.meta.dirname, "../../scripts/test-aws.ts");

function run(folder: string): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, [script, "--dir", folder], { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, text })));
}

describe("the test on AWS", () => {
  it("says why it was not run, and ends with 1", async () => {
    const account = await startAwsAccount();
    stubAws(account.endpoint, { credentials: false });
    const { folder, calls } = fakePulumi();
    const { code, text } = await run(folder);
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/was not run:\n- There are no AWS credentials/) as string,
    ]);
    expect(calls()).toEqual([["version"]]);
  }, 30_000);

  it("destroys the stack where the loop breaks, and fails", async () => {
    const url = await brokenStack();
    const key = {
      url,
      key: "sk-spotter-x",
      record: { v: 1, id: "k", name: "first", scope: "admin", createdAtMs: 1 },
    };
    const account = await startAwsAccount({
      services: {
        lambda: { Invoke: () => ({ StatusCode: 200, Payload: Buffer.from(JSON.stringify(key)) }) },
        ec2: {
          DescribeAddresses: () => ({}),
          DescribeNatGateways: () => ({}),
          DescribeVpcEndpoints: () => ({}),
        },
        ssm: { GetParametersByPath: () => ({}) },
      },
    });
    stubAws(account.endpoint);
    await startBuckets();
    const { folder, calls } = fakePulumi({
      whoami: [{ stdout: '{"url":"file:///tmp"}' }],
      "stack output": [{ stdout: JSON.stringify({ url, keyBootstrapFunction: "keys" }) }],
      "stack export": [{ stdout: '{"deployment":{}}' }],
    });
    const { code, text } = await run(folder);
    expect([code, text]).toEqual([1, expect.stringContaining("Failed: not a gym") as string]);
    expect(text).toContain("Destroyed; nothing that costs is left.");
    expect(text).toContain("0 passed, 1 failed");
    const verbs = calls().map(([first = "", second = ""]) =>
      first === "stack" ? `${first} ${second}` : first,
    );
    expect(verbs.filter((each) => /^(up|destroy|stack (select|rm))/.test(each))).toEqual([
      ...["stack select", "stack select", "up", "destroy", "stack rm"],
    ]);
  }, 30_000);
});

/** Is well, and answers every other request with the same refusal. */
async function brokenStack(): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === "/health") return response.end("{}");
    response.writeHead(400, { "content-type": "application/json" });
    response.end('{"error":{"code":"invalid_input","kind":"user","message":"not a gym"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
