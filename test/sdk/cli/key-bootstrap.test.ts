import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startAwsAccount, stubAws } from "../../fakes/aws-account.ts";
import { deploy, PUBLIC_URL, type Deployment } from "../../fakes/lambda-runtime/deploy.ts";
import { bootstrappedKey } from "../../../sdk/schema/key-bootstrap.ts";
import { runCli } from "./run-cli.ts";

const FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:key-bootstrap";
const TAGS = { "spotter:stack": "spotter-test" };
const LINE = "key bootstrap --stack spotter-test";

let stack: Deployment;
beforeAll(async () => {
  stack = await deploy();
}, 30_000);
afterAll(() => stack.close());

/** The stack's functions as they are deployed, and a tagging service that knows them. */
async function reachable(arns = [FUNCTION]) {
  const account = await startAwsAccount({ resources: arns.map((arn) => ({ arn, tags: TAGS })) });
  stubAws(stack.aws.endpoint);
  vi.stubEnv("AWS_ENDPOINT_URL_RESOURCE_GROUPS_TAGGING_API", account.endpoint);
  return account;
}

describe("spotter key bootstrap", () => {
  it("makes the first key of a deployed stack, once, and another only when told to", async () => {
    await reachable();
    // The test's own key is not of a user: the stack is as new.
    const { items } = await stack.store.query<{ record: object }>("keys");
    for (const { key } of items) await stack.store.delete(key);
    const both = await Promise.all([runCli(`${LINE} --json`), runCli(`${LINE} --json`)]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 2]);
    const won = both.find(({ code }) => code === 0)?.out ?? "";
    const made = bootstrappedKey.parse(JSON.parse(won));
    expect(made).toMatchObject({ url: PUBLIC_URL, record: { name: "first", scope: "admin" } });
    const listed = await stack.call("keys", "GET", "/keys", undefined, made.key);
    expect([listed.status, await listed.json()]).toMatchObject([200, { items: [{ id: made.record.id }] }]);

    const refused = await runCli(LINE);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain(`The stack has an admin key already: first (${made.record.id}).`);
    expect(refused.err).toContain("spotter key bootstrap --force");
    const forced = await runCli(`${LINE} --force --name ada`);
    expect(forced.code).toBe(0);
    const lines = /^export SPOTTER_URL=(\S+)\nexport SPOTTER_API_KEY=(\S+)\n$/.exec(forced.out);
    expect(lines?.[1]).toBe(PUBLIC_URL);
    expect(forced.err).toContain("only time the key is shown");
    const { output } = await stack.get("key-bootstrap");
    for (const key of [made.key, lines?.[2] ?? "none"]) {
      expect((await stack.call("keys", "GET", "/keys", undefined, key)).status).toBe(200);
      expect(output).not.toContain(key);
    }
  }, 30_000);

  it("tells who asks wrongly what a key needs, and makes none", async () => {
    await reachable();
    const result = await runCli([...LINE.split(" "), "--name", "a name with spaces"]);
    expect([result.code, result.err]).toEqual([2, expect.stringContaining("name") as string]);
  }, 30_000);

  it("names what is missing: the stack, its function, credentials, the right to call", async () => {
    const isolate = { ...TAGS, "spotter:kind": "isolate" };
    const account = await reachable([]);
    const nothing = await runCli("key bootstrap --stack nope --region eu-west-1");
    expect([nothing.code, nothing.err]).toEqual([
      2,
      expect.stringContaining("There is no stack nope in eu-west-1.") as string,
    ]);
    account.resources.push({ arn: `${FUNCTION}-isolate-1`, tags: isolate });
    const halfMade = await runCli(LINE);
    expect([halfMade.code, halfMade.err]).toEqual([2, expect.stringContaining("--recover") as string]);
    account.failures.failNext("GetResources", { error: "AccessDeniedException", message: "no" });
    const denied = await runCli(LINE);
    expect([denied.code, denied.err]).toEqual([1, expect.stringContaining("tag:GetResources") as string]);
    stubAws(stack.aws.endpoint, { credentials: false });
    const nobody = await runCli(LINE);
    expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining("no AWS credentials") as string]);
    expect(nobody.err).not.toContain("    at ");
    expect((await runCli(["key", "bootstrap", "--stack", "a/b"])).code).toBe(2);
  });
});
