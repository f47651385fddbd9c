import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleOf, deploy, writeFiles, type Deployment } from "../../fakes/lambda-runtime/deploy.ts";
import { startFunction, type FakeFunction } from "../../fakes/lambda-runtime/function.ts";

const HOST = "d222222abcdef8.cloudfront.net";
const folder = mkdtempSync(join(tmpdir(), "spotter-without-url-"));
let stack: Deployment;
let pages: FakeFunction;
beforeAll(async () => {
  stack = await deploy();
  writeFiles(folder, await bundleOf("pages"));
  // As in a stack without a domain: the distribution is made after its functions.
  const { SPOTTER_URL: _, ...environment } = stack.environment;
  pages = await startFunction({ folder, environment });
}, 60_000);
afterAll(async () => {
  await pages.close();
  await stack.close();
  rmSync(folder, { recursive: true });
});

const askForLink = (headers: Record<string, string>) =>
  fetch(`${pages.url}/ui-codes`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: "{}",
  });

it("a deployed function learns the URL of its stack from the front door, and from nobody else", async () => {
  const { authorization } = stack.headers;
  const stranger = await askForLink({ authorization, "x-spotter-host": "evil.example.com" });
  expect(stranger.status).toBe(403);
  expect(await stranger.json()).toMatchObject({ error: { code: "forbidden", where: "x-spotter-origin" } });
  const made = await askForLink({ ...stack.headers, "x-spotter-host": HOST });
  const { url } = (await made.json()) as { url: string };
  // Links lead to where the sender came from, never to the function's own address.
  expect([made.status, new URL(url).origin]).toEqual([200, `https://${HOST}`]);
  expect(pages.coldStarts).toBe(1);
}, 30_000);
